// The cost of many acquisitions that wait for one lock: for the servers at each release, and for the process in which
// they wait.
#include "asynchronous.hpp"
#include "crowd.hpp"
#include "parts.hpp"
#include "peers.hpp"
#include "support/process.hpp"

namespace bench {

namespace json = boost::json;

namespace {

constexpr int releases = 50;

/// The cost of each release since `before`.
traffic since(const traffic& before) {
  const auto now = count_traffic();
  return {(now.watch_events - before.watch_events) / releases, (now.requests - before.requests) / releases};
}

traffic crowd_of_ours(const std::string& hosts, int size) {
  asio::io_context io;
  traffic cost;
  auto body = [&]() -> awaitable<bool> {
    auto ex = co_await asio::this_coro::executor;
    const zkrecipes::session_options options{.hosts = hosts};
    zkrecipes::session zk(ex, options);
    co_await zk.async_ensure_path("/crowd", use_awaitable);
    crowd all(zk, "/crowd");
    co_await all.gather(static_cast<std::size_t>(size));
    const auto before = count_traffic();
    co_await all.hand_on(releases);
    cost = since(before);
    co_await zk.async_close(use_awaitable);
    co_return true;
  };
  run_coroutine(io, body(), std::chrono::minutes(2));
  return cost;
}

std::optional<traffic> crowd_of(const std::string& name, const plan& what, const std::string& hosts) {
  if (what.peers.empty()) return std::nullopt;
  peer program(what.peers, name, "wake-ups", hosts, {"--waiting", std::to_string(what.waiting)});
  program.line();  // ready
  const auto before = count_traffic();
  program.tell(std::to_string(releases));
  program.line();  // done
  const auto cost = since(before);
  program.tell("");
  program.figures();  // it has removed its nodes
  return cost;
}

json::value cell(const std::optional<traffic>& cost, double traffic::*which) {
  return cost ? json::value(*cost.*which) : json::value();
}

}  // namespace

std::vector<row> wake_ups(const plan& what) {
  const std::string hosts = join_hosts(direct_hosts());
  const auto ours = crowd_of_ours(hosts, what.waiting);
  const auto curator = crowd_of("curator", what, hosts);
  const auto kazoo = crowd_of("kazoo", what, hosts);
  const std::string unit = "per release, " + std::to_string(what.waiting) + " waiting";
  return {{"watch events", unit, ours.watch_events, cell(curator, &traffic::watch_events),
           cell(kazoo, &traffic::watch_events)},
          {"requests", unit, ours.requests, cell(curator, &traffic::requests), cell(kazoo, &traffic::requests)}};
}

std::vector<row> waiting(const plan& what) {
  // Measured in a separate process, because this one has proxies with threads.
  line_process alone("waiting", {what.self, "--wait-in-line", std::to_string(what.many_waiting), "--hosts",
                                 join_hosts(direct_hosts())});
  std::optional<std::string> said;
  wait_until([&] { return (said = alone.answer()).has_value(); }, std::chrono::minutes(2));
  if (!said) throw std::runtime_error("waiting in line takes too long");
  const auto taken = json::parse(*said).as_object();
  const std::string unit = "one process, " + std::to_string(what.many_waiting) + " waiting";
  return {{"memory taken, MiB", unit, taken.at("mebibytes"), nullptr, nullptr},
          {"memory of the whole process, MiB", unit, taken.at("whole"), nullptr, nullptr},
          {"threads", unit, taken.at("threads"), nullptr, nullptr}};
}

}  // namespace bench
