#include "trial.hpp"

#include <algorithm>
#include <exception>
#include <optional>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/election.hpp>

#include <testcluster/proxy.hpp>

namespace follower_cut {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using zkrecipes::lease_clock;

constexpr auto whatever = asio::as_tuple(asio::use_awaitable);

class trial {
 public:
  trial(testcluster::ensemble& cluster, const setting& how)
      : cluster_(cluster), how_(how), leader_(cluster.leader()), follower_(leader_ % 3 + 1) {}

  bool deposes() const { return how_.cut == cut::leader; }

  auto stop_on_failure() {
    return [this](std::exception_ptr failure) {
      if (failure) failure_ = failure;
    };
  }

  sighting run() {
    asio::co_spawn(io_, hold(), stop_on_failure());
    io_.run();
    if (failure_) std::rethrow_exception(failure_);
    return seen_;
  }

 private:
  zkrecipes::session connect(std::string hosts, std::chrono::milliseconds timeout) {
    return {io_.get_executor(), {.hosts = std::move(hosts), .timeout = timeout, .lease = how_.mode}};
  }

  zkrecipes::session connect_holder() {
    const auto nodes = cluster_.nodes();
    return connect(deposes() ? nodes.at(leader_ - 1).proxy : nodes.at(follower_ - 1).address, how_.session);
  }

  /// If the leader is cut off, the contender's session is long enough to outlive the election of another leader.
  zkrecipes::session connect_contender() {
    const auto nodes = cluster_.nodes();
    if (!deposes()) return connect(nodes.at(leader_ - 1).address, how_.session);
    std::string others;
    for (const auto& each : nodes) {
      if (each.id != leader_) others += (others.empty() ? "" : ",") + each.address;
    }
    return connect(std::move(others), 60s);
  }

  asio::awaitable<void> pause(std::chrono::milliseconds length) {
    asio::steady_timer timer(io_, length);
    co_await timer.async_wait(whatever);
  }

  asio::awaitable<void> hold() {
    auto mine = connect_holder();
    auto others = connect_contender();
    co_await mine.async_ensure_path("/load", asio::use_awaitable);
    zkrecipes::election first(mine, "/cut", {.id = "holder"}), second(others, "/cut", {.id = "contender"});
    auto held = co_await first.async_campaign(asio::use_awaitable);
    asio::co_spawn(io_, contend(second), stop_on_failure());
    asio::co_spawn(io_, work(mine), stop_on_failure());
    for (zkrecipes::election_view view; view.candidates.size() < 2;)
      view = co_await second.async_view_change(view, asio::use_awaitable);
    co_await pause(how_.before_cut);
    if (how_.cut == cut::flip) {
      co_await flip(mine, held);
    } else if (deposes()) {
      cluster_.partition(leader_);
    } else {
      cluster_.partition(follower_, leader_);
    }
    cut_ = lease_clock::now();
    asio::co_spawn(io_, break_lines(mine), stop_on_failure());
    co_await watch(held);
    done_ = true;
    cluster_.heal();
    co_await held.async_release(asio::use_awaitable);
    co_await mine.async_close(asio::use_awaitable);
    co_await others.async_close(asio::use_awaitable);
  }

  asio::awaitable<void> flip(const zkrecipes::session& mine, const zkrecipes::ownership& held) {
    using way = testcluster::proxy::way;
    auto& link = cluster_.peer_proxy(follower_, leader_, testcluster::peer_port::quorum);
    const auto proof = held.valid_until();
    while (held.valid_until() == proof) co_await pause(1ms);
    link.freeze(true, way::to_client);
    const auto sent = mine.counters().heartbeats;
    while (mine.counters().heartbeats == sent) co_await pause(1ms);
    co_await pause(50ms);  // meanwhile the heartbeat reaches the leader
    link.freeze(true, way::to_server);
    link.freeze(false, way::to_client);
  }

  asio::awaitable<void> contend(zkrecipes::election& contest) {
    auto [failed, held] = co_await contest.async_campaign(whatever);
    if (failed) {
      contender_failed_ = failed.message();
      co_return;
    }
    other_owns_ = lease_clock::now();
    while (!done_) co_await pause(10ms);
  }

  asio::awaitable<void> work(zkrecipes::session zk) {
    while (!done_ && (how_.load == load::reads || how_.load == load::writes)) {
      if (how_.load == load::reads) {
        co_await zk.async_exists("/load", whatever);
      } else {
        co_await zk.async_set("/load", "x", -1, whatever);
      }
      co_await pause(10ms);
    }
  }

  /// Breaks the holder's connection whenever it is connected, from half a second before the servers notice the cut.
  asio::awaitable<void> break_lines(zkrecipes::session zk) {
    if (how_.load == load::breaks) co_await pause(how_.noticed - std::min(how_.noticed, 500ms));
    while (!done_ && how_.load == load::breaks) {
      if (zk.status().state == zkrecipes::session_state::connected) cluster_.proxy(leader_).cut();
      co_await pause(120ms);
    }
  }

  /// Observes the holder's belief as the holder itself does, until the belief has ended and the contender owns. A
  /// belief that has ended does not come back, because an ownership that was lost stays lost. If the contender does not
  /// own while we observe, there is no overlap.
  asio::awaitable<void> watch(const zkrecipes::ownership& held) {
    std::optional<lease_clock::time_point> ended;
    auto until = held.valid_until();
    while (lease_clock::now() < cut_ + how_.time_limit) {
      if (!ended && held.error()) ended = std::min(until, lease_clock::now());
      if (!ended) until = held.valid_until();
      if ((ended && other_owns_) || !contender_failed_.empty()) break;
      co_await pause(1ms);
    }
    seen_.believed_until = ended.value_or(std::min(until, lease_clock::now())) - cut_;
    seen_.reason = held.error().message();
    if (other_owns_) {
      seen_.other_owns = *other_owns_ - cut_;
    } else {
      seen_.no_overlap = contender_failed_.empty() ? "nobody else owned" : "the contender failed: " + contender_failed_;
    }
  }

  testcluster::ensemble& cluster_;
  const setting& how_;
  int leader_;
  int follower_;
  asio::io_context io_;
  lease_clock::time_point cut_;
  std::optional<lease_clock::time_point> other_owns_;
  sighting seen_;
  std::string contender_failed_;
  std::exception_ptr failure_;
  bool done_ = false;
};

}  // namespace

sighting look(testcluster::ensemble& cluster, const setting& how) { return trial(cluster, how).run(); }

}  // namespace follower_cut
