#include "parts.hpp"

#include "operations.hpp"
#include "peers.hpp"
#include "rates.hpp"
#include "support/cluster.hpp"
#include "support/coroutine.hpp"

#include <boost/asio.hpp>

namespace bench {

namespace asio = boost::asio;
namespace json = boost::json;
using asio::awaitable;
using asio::use_awaitable;
using namespace zkrecipes::test;

namespace {

json::object figures_of(const std::string& name, const plan& what, const std::string& part,
                        const std::string& hosts, const std::vector<std::string>& options = {}) {
  if (what.peers.empty()) return {};
  return peer(what.peers, name, part, hosts, options).figures();
}

json::value cell(const json::object& figures, const std::string& name) {
  const auto* found = figures.if_contains(name);
  return found ? *found : json::value();
}

std::vector<operation> all_operations() {
  std::vector<operation> all;
  for (auto part : {&lock_operations, &election_operations, &queue_operations}) {
    auto some = part();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

awaitable<std::map<std::string, double>> measure_ours(zkrecipes::session_options options, double unit,
                                                      const plan& what) {
  auto ex = co_await asio::this_coro::executor;
  zkrecipes::session first(ex, options);
  zkrecipes::session second(ex, options);
  co_await first.async_connected(use_awaitable);
  co_await second.async_connected(use_awaitable);
  const setting where{first, second, unit, what.repeat};
  auto results = co_await measure(where, all_operations());
  co_await first.async_close(use_awaitable);
  co_await second.async_close(use_awaitable);
  co_return results;
}

void delay_clients(int one_way_ms) {
  for (int id = 1; id <= server_count; ++id)
    cluster().proxy(id).set_delay(std::chrono::milliseconds(one_way_ms));
}

}  // namespace

std::vector<row> round_trips(const plan& what) {
  const double unit = 2.0 * what.one_way_ms;
  const std::string hosts = join_hosts(proxy_hosts());
  delay_clients(what.one_way_ms);
  asio::io_context io;
  const zkrecipes::session_options options{.hosts = hosts};
  const auto ours = run_coroutine(io, measure_ours(options, unit, what), std::chrono::minutes(3));
  const std::vector<std::string> words{"--round-trip-ms", std::to_string(unit), "--repeat",
                                       std::to_string(what.repeat)};
  const auto curator = figures_of("curator", what, "round-trips", hosts, words);
  const auto kazoo = figures_of("kazoo", what, "round-trips", hosts, words);
  delay_clients(0);
  std::vector<row> rows;
  const std::string name = "round trips of " + std::to_string(2 * what.one_way_ms) + " ms";
  for (const auto& each : all_operations()) {
    rows.push_back({each.name, name, ours.at(each.name), cell(curator, each.peers), cell(kazoo, each.peers)});
  }
  return rows;
}

std::vector<row> rates(const plan& what) {
  const std::string hosts = join_hosts(direct_hosts());
  const auto ours = measure_rates(hosts);
  const auto curator = figures_of("curator", what, "rates", hosts);
  const auto kazoo = figures_of("kazoo", what, "rates", hosts);
  std::vector<row> rows;
  for (const auto& [name, value] : ours) {
    rows.push_back({name, per_second, value, cell(curator, name), cell(kazoo, name)});
  }
  return rows;
}

}  // namespace bench
