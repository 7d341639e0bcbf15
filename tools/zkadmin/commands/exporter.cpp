#include <algorithm>
#include <csignal>
#include <exception>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/tasks.hpp"
#include "base/text.hpp"
#include "cluster/live_place.hpp"
#include "commands/commands.hpp"
#include "commands/contact.hpp"
#include "exporter/metrics_server.hpp"
#include "servers/prober.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

/// Everything; queues only if there are any declared.
wanted_kinds kinds_of(const settings& wanted) { return {.queues = !wanted.queues.empty()}; }

/// Reads the cluster over one session, at an interval, and serves what it has read. A request over HTTP starts no read:
/// so many that scrape cost the ensemble no more than one.
class exporter {
 public:
  exporter(asio::io_context& io, const settings& wanted, zkrecipes::session session)
      : io_(io),
        wanted_(wanted),
        session_(session),
        look_(session, {wanted.root, wanted.queues, wanted.recipes, wanted.refresh / 2, wanted.refresh / 2}, {}),
        probes_(make_prober(io.get_executor(), wanted, wanted.timeout)),
        servers_(not_asked(wanted.servers)),
        server_(io.get_executor(), wanted.listen),
        timer_(io),
        servers_timer_(io),
        signals_(io, SIGTERM, SIGINT) {
    server_.set(metrics_of_nothing());
  }

  endpoint where() const { return server_.where(); }

  void run() {
    const auto rethrow = [](std::exception_ptr error) {
      if (error) std::rethrow_exception(error);
    };
    server_.start();
    asio::co_spawn(io_, watch_servers(), rethrow);
    asio::co_spawn(io_, keep_fresh(), rethrow);
    signals_.async_wait([this](const auto&, int) { is_over_ = true; });
    while (!is_over_) io_.run_one();
    asio::co_spawn(io_, server_.close(), rethrow);
    timer_.cancel();
    servers_timer_.cancel();
    close_session(io_, session_, steady_clock::now() + 1s);
  }

 private:
  /// Beside the recipes: in an outage these take as long as the timeout.
  asio::awaitable<void> watch_servers() {
    const prober::hook keep = [this](std::size_t which, server_status seen) { servers_[which] = std::move(seen); };
    while (!is_over_) {
      co_await probes_->ask_all(keep);
      has_asked_ = true;
      // A session that moves to another server keeps its figures.
      const auto patience = std::min<std::chrono::milliseconds>(wanted_.timeout, 1s);
      if (!is_connected()) co_await session_.async_connected_for(patience, as_result);
      if (is_over_) co_return;
      if (!is_connected()) {
        last_.seen = {};
        last_.seen.trouble = "no connection";
      }
      publish();
      servers_timer_.expires_after(wanted_.refresh);
      co_await servers_timer_.async_wait(as_result);
    }
  }

  asio::awaitable<void> keep_fresh() {
    while (!is_over_) {
      co_await refresh();
      timer_.expires_after(wanted_.refresh);
      co_await timer_.async_wait(as_result);
    }
  }

  asio::awaitable<void> refresh() {
    const auto begin = steady_clock::now();
    findings seen;
    co_await read_recipes(seen, begin + std::max(wanted_.refresh, wanted_.timeout));
    last_.seen = std::move(seen);
    last_.took = std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - begin);
    last_.ended = std::chrono::system_clock::now();
    publish();
  }

  bool is_connected() const { return session_.status().state == zkrecipes::session_state::connected; }

  /// Nothing before the timeout: a session may move to another server.
  std::optional<std::chrono::milliseconds> time_without_session() {
    const auto now = steady_clock::now();
    if (is_connected()) {
      lost_at_.reset();
    } else if (!lost_at_) {
      lost_at_ = now;
    }
    if (!lost_at_ || now - *lost_at_ < wanted_.timeout) return std::nullopt;
    return std::chrono::duration_cast<std::chrono::milliseconds>(now - *lost_at_);
  }

  void publish() {
    if (!has_asked_) return;
    last_.seen.servers = servers_;
    last_.seen.without_session = time_without_session();
    server_.set(to_metrics(last_, kinds_of(wanted_), wanted_.limits));
  }

  asio::awaitable<void> read_recipes(findings& into, deadline limit) {
    std::string trouble;
    try {
      co_await look_.search(middle(limit));
      has_searched_ = true;
    } catch (const failure& error) {
      trouble = error.what();
    }
    const bool is_in_vain = !trouble.empty() && !is_connected();
    if (has_searched_ && !is_in_vain)  // what earlier searches have found
      co_await look_.read(into, kinds_of(wanted_), limit);
    if (into.trouble.empty()) into.trouble = trouble;
    // Refused credentials close the session, and a closed session can not recover. All other errors may pass.
    const bool is_closed = session_.status().state == zkrecipes::session_state::closed;
    if (is_closed && !is_over_)
      throw failure(exit_code::auth, into.trouble.empty() ? "the session is closed" : into.trouble);
  }

  asio::io_context& io_;
  const settings& wanted_;
  zkrecipes::session session_;
  live_place look_;
  std::shared_ptr<prober> probes_;
  std::vector<server_status> servers_;
  metrics_server server_;
  asio::steady_timer timer_;
  asio::steady_timer servers_timer_;
  asio::signal_set signals_;
  refreshed last_;
  std::optional<steady_clock::time_point> lost_at_;  // The connection, as far as is known.
  bool has_asked_ = false;                           // each server: else one that is up would look as if it were down
  bool has_searched_ = false;                        // once at least: else nothing found would look like nothing there
  bool is_over_ = false;
};

}  // namespace

exit_code run_exporter(surroundings& around, const settings& wanted) {
  const auto share = wanted.timeout / (static_cast<int>(wanted.servers.size()) + 1);
  auto session = make_session(around.io.get_executor(), wanted, wanted.servers, share);
  exporter serving(around.io, wanted, std::move(session));
  around.err << "zkadmin: the metrics are at http://" << printable(serving.where().name) << "/metrics" << std::endl;
  serving.run();
  return exit_code::ok;
}

}  // namespace zkadmin
