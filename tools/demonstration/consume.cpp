// Consumers: the elected one of all replicas works, or each works on its shards.
#include <chrono>
#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio.hpp>
#include <boost/asio/awaitable.hpp>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/consumer/leader_career.hpp>
#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/session.hpp>
#include <zkrecipes/zkrecipes.hpp>

#include "phase_log.hpp"
#include "recorder.hpp"
#include "roles.hpp"
#include "shard_source.hpp"

namespace demo {

/// Calls `inner`, and logs when its phases begin and end, and why its terms end.
class logged_career final : public zkrecipes::leader_career {
 public:
  logged_career(std::unique_ptr<zkrecipes::leader_career> inner, phase_log& log, std::string consumer,
                std::uint32_t shard = 0)
      : inner_(std::move(inner)), log_(log), consumer_(std::move(consumer)), shard_(shard) {}

  zkrecipes::career_traits traits() const override { return inner_->traits(); }
  boost::asio::awaitable<void> inaugurate(zkrecipes::term present) override;
  boost::asio::awaitable<void> execute(zkrecipes::term present) override;
  boost::asio::awaitable<void> hand_over(zkrecipes::term present, zkrecipes::term_end reason) override;
  boost::asio::awaitable<void> ended(zkrecipes::term present, zkrecipes::term_end reason) override;

 private:
  phase_mark mark(const zkrecipes::term& present, std::string phase) const;

  std::unique_ptr<zkrecipes::leader_career> inner_;
  phase_log& log_;
  std::string consumer_;
  std::uint32_t shard_;
};

namespace asio = boost::asio;

phase_mark logged_career::mark(const zkrecipes::term& present, std::string phase) const {
  return {monotonic_ns(), consumer_, present.epoch(), std::move(phase), false, shard_};
}

asio::awaitable<void> logged_career::inaugurate(zkrecipes::term present) {
  auto goes_on = log_.begins(mark(present, "inaugurate"));
  co_await inner_->inaugurate(present);
}

asio::awaitable<void> logged_career::execute(zkrecipes::term present) {
  auto goes_on = log_.begins(mark(present, "execute"));
  co_await inner_->execute(present);
}

asio::awaitable<void> logged_career::hand_over(zkrecipes::term present, zkrecipes::term_end reason) {
  auto goes_on = log_.begins(mark(present, "hand_over"));
  co_await inner_->hand_over(present, reason);
}

/// Logs the reason as a phase that ends: nothing of this term goes on any more.
asio::awaitable<void> logged_career::ended(zkrecipes::term present, zkrecipes::term_end reason) {
  log_.record(mark(present, zkrecipes::to_string(reason)));
  co_await inner_->ended(present, reason);
}

/// Notices that this process was not run for a while, and that its lease has ended by the time it woke. Nobody promises
/// anything of such a process until it has looked at the clock: docs/guarantees.md.
class sleep_watch {
 public:
  /// `margin`: that of the lease. A sleep of half of it counts.
  sleep_watch(zkrecipes::session over, std::chrono::nanoseconds margin);

  /// When it was awake for the last time, if it has slept past its lease since then.
  std::optional<std::int64_t> look();
  /// Looks all the time, and has the log note what is seen.
  boost::asio::awaitable<void> run(phase_log& log, std::string consumer);

 private:
  zkrecipes::session session_;
  std::chrono::nanoseconds limit_;
  std::int64_t last_ns_;
};

namespace asio = boost::asio;

sleep_watch::sleep_watch(zkrecipes::session over, std::chrono::nanoseconds margin)
    : session_(std::move(over)), limit_(margin / 2), last_ns_(monotonic_ns()) {}

std::optional<std::int64_t> sleep_watch::look() {
  const auto now = monotonic_ns();
  const auto before = std::exchange(last_ns_, now);
  const bool was_late = now - before > limit_.count();
  if (!was_late || session_.valid_until() > zkrecipes::lease_clock::now()) return std::nullopt;
  return before;
}

asio::awaitable<void> sleep_watch::run(phase_log& log, std::string consumer) {
  asio::steady_timer timer(session_.get_executor());
  for (;;) {
    log.look(consumer);
    timer.expires_after(limit_ / 2);
    co_await timer.async_wait(asio::use_awaitable);
  }
}

namespace asio = boost::asio;

namespace {

void print(const std::string& id, zkrecipes::error_code error, std::exception_ptr failure) {
  std::cerr << "consumer " << id << ": " << error.message();
  try {
    if (failure) std::rethrow_exception(failure);
  } catch (const std::exception& reason) {
    std::cerr << ": " << reason.what();
  }
  std::cerr << '\n';
}

bool means_cut(zkrecipes::session_event what) {
  using zkrecipes::session_event;
  return what == session_event::connection_lost || what == session_event::lease_lapsed ||
         what == session_event::incarnation_ended;
}

/// What both kinds of consumers have.
struct workplace {
  explicit workplace(const consumer_settings& how)
      : id(how.id),
        log(how.folder / how.id),
        session(io.get_executor(), options(how)),
        sleep(session, how.timeout / 10),
        signals(io, SIGTERM, SIGINT) {
    log.watch_sleep([this] { return sleep.look(); });
    asio::co_spawn(io, sleep.run(log, id), asio::detached);
  }

  zkrecipes::session_options options(const consumer_settings& how) {
    auto chosen = session_options(how.hosts, how.timeout);
    chosen.guardian = how.guardian;
    chosen.log = [this](const zkrecipes::log_event& event) {
      if (means_cut(event.event)) log.record(mark_of_process(id, cut));
    };
    return chosen;
  }
  void on_signal(std::function<void(int)> act) {
    signals.async_wait([this, act](zkrecipes::error_code error, int number) {
      if (error) return;
      act(number);
      on_signal(act);
    });
  }
  void end(zkrecipes::error_code error, std::exception_ptr failure) {
    if (error) print(id, error, failure);
    status = error ? 1 : 0;
    signals.cancel();
    session.async_close([this](zkrecipes::error_code) { io.stop(); });
  }

  std::string id;
  asio::io_context io;
  phase_log log;
  zkrecipes::session session;
  sleep_watch sleep;
  asio::signal_set signals;
  int status = 0;
};

zkrecipes::shard_group_options member_options(const consumer_settings& how) {
  zkrecipes::shard_group_options all;
  all.id = how.id;
  all.shards = how.shards;
  if (how.defaults) return all;
  all.grace = how.grace;
  all.quarantine_after = 0;  // we kill owners ourselves, perhaps faster than their shards make progress
  return all;
}

/// It consumes everything: the queue, or the only shard of another source.
std::unique_ptr<recorder> make_recorder(workplace& here, const consumer_settings& how) {
  const auto& over = here.session;
  if (how.source == source_kind::queue)
    return std::make_unique<recorder>(zkrecipes::queue(over, queue_path), how, here.log);
  const auto source = make_shard_source(how.source, over, 1, how.broker);
  return std::make_unique<recorder>(source->feed(0), how, here.log, 0);
}

}  // namespace

int consume(const consumer_settings& how) {
  workplace here(how);
  logged_career career(make_recorder(here, how), here.log, how.id);
  zkrecipes::consumer_coordinator coordinator(here.session, election_path, {.id = how.id});
  here.on_signal([&](int) { coordinator.stop(); });
  coordinator.async_run(career, [&](zkrecipes::error_code error) { here.end(error, coordinator.failure()); });
  here.io.run();
  return here.status;
}

int own_shards(const consumer_settings& how) {
  workplace here(how);
  here.signals.add(SIGUSR1);
  const auto source = make_shard_source(how.source, here.session, how.shards, how.broker);
  zkrecipes::shard_group group(here.session, group_path, member_options(how));
  here.on_signal([&](int number) {
    if (number == SIGUSR1) return group.drain();
    group.stop();
  });
  auto make = [&](const zkrecipes::shard& which) {
    auto records = std::make_unique<recorder>(source->feed(which.number), how, here.log, which.number);
    return std::make_unique<logged_career>(std::move(records), here.log, how.id, which.number);
  };
  group.async_run(make, [&](zkrecipes::error_code error) { here.end(error, {}); });
  here.io.run();
  return here.status;
}

}  // namespace demo
