// A process of a balanced run: it works off the messages of its lane, one for each step of its track.
#include <csignal>
#include <iostream>
#include <random>
#include <utility>

#include <boost/asio.hpp>

#include <zkrecipes/flow.hpp>
#include <zkrecipes/zkrecipes.hpp>

#include "balance_summary.hpp"
#include "phases.hpp"
#include "roles.hpp"

namespace demo {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto tuple = asio::as_tuple(asio::use_awaitable);

/// The lane's node holds how many messages are done. It is written together with the effect of each message, by its
/// version, so no message is done twice, and none is left out.
class walker {
 public:
  explicit walker(const walker_settings& how)
      : how_(how),
        log_(how.folder / how.id),
        session_(io_.get_executor(), options()),
        pace_(session_, pace_path, {.id = how.id, .range = how.range}),
        signals_(io_, SIGTERM, SIGINT) {}

  int run() {
    log_.record({step_mark::kind::begins, monotonic_ns(), monotonic_ns(), 0});
    signals_.async_wait([this](zkrecipes::error_code error, int) {
      if (error) return;
      record_leaving();
      pace_.stop();
    });
    pace_.async_run([this](zkrecipes::error_code error) {
      status_ = error ? 1 : 0;
      if (error) std::cerr << how_.id << ": " << error.message() << '\n';
      session_.async_close([this](zkrecipes::error_code) { io_.stop(); });
    });
    asio::co_spawn(io_, work(), [this](std::exception_ptr failure) {
      if (failure) std::rethrow_exception(failure);
    });
    asio::co_spawn(io_, look_often(), asio::detached);
    io_.run();
    return status_;
  }

 private:
  zkrecipes::session_options options() {
    auto chosen = session_options(how_.hosts, how_.timeout);
    chosen.lease = zkrecipes::lease_mode::strict;  // only with it no two live tracks are apart by more than the range
    chosen.log = [](const zkrecipes::log_event&) {};  // the director tells of the faults
    return chosen;
  }

  asio::awaitable<void> work() {
    auto track = pace_.track(how_.id);
    std::mt19937_64 dice(how_.seed);
    asio::steady_timer timer(io_);
    for (;;) {
      const auto before = monotonic_ns();
      auto [error] = co_await track.async_move(tuple);
      if (error) co_return;
      position_ = static_cast<std::int64_t>(track.steps());
      log_.record({step_mark::kind::step, before, monotonic_ns(), position_});
      record_live();
      if (!co_await process_next()) break;
      timer.expires_after(std::chrono::microseconds(dice() % how_.longest_us));
      co_await timer.async_wait(tuple);
    }
    record_leaving();
    track.leave();
  }

  /// A track that waits for others makes no steps, and is live all the same.
  asio::awaitable<void> look_often() {
    asio::steady_timer timer(io_);
    for (;;) {
      record_live();
      timer.expires_after(20ms);
      co_await timer.async_wait(tuple);
    }
  }

  /// The time comes before the look at the lease: how long that lasts is told too low at worst.
  void record_live() {
    const auto now = monotonic_ns();
    const auto status = pace_.status();
    const auto rest = status.valid_until - zkrecipes::lease_clock::now();
    if (has_left_ || !status.is_member || rest.count() <= 0) return;
    const auto& tracks = status.tracks;
    if (tracks.empty() || static_cast<std::int64_t>(tracks.front().steps) != position_) return;
    log_.record({step_mark::kind::live, now, now + rest.count(), position_});
  }

  void record_leaving() {
    if (!std::exchange(has_left_, true))
      log_.record({step_mark::kind::leaving, monotonic_ns(), monotonic_ns(), position_});
  }

  /// False: there is no further message.
  asio::awaitable<bool> process_next() {
    const std::string lane = lanes_path + ('/' + how_.id);
    for (;;) {
      auto [missing, node] = co_await session_.async_get(lane, tuple);
      if (!missing) {
        const auto done = std::stoull(node.data);
        if (done >= how_.messages) co_return false;
        const auto number = std::to_string(done + 1);
        zkrecipes::transaction effect;
        effect.set(lane, number, node.stat.version);
        effect.create(results_path + ('/' + how_.id) + "/r-", number, zkrecipes::create_mode::persistent_sequential);
        auto [error, results] = co_await session_.async_commit(std::move(effect), tuple);
        if (!error) co_return done + 1 < how_.messages;
        // Behind a lost reply the next read tells whether it was done.
      }
      asio::steady_timer pause(io_, 20ms);
      co_await pause.async_wait(tuple);
    }
  }

  walker_settings how_;
  asio::io_context io_;
  step_log log_;
  zkrecipes::session session_;
  zkrecipes::shared_balance pace_;
  asio::signal_set signals_;
  std::int64_t position_ = -1;  // behind our last step
  bool has_left_ = false;
  int status_ = 0;
};

}  // namespace

int walk(const walker_settings& how) { return walker(how).run(); }

}  // namespace demo
