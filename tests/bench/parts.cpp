#include "parts.hpp"

#include "asynchronous.hpp"
#include "bare.hpp"
#include "operations.hpp"
#include "peers.hpp"
#include "rates.hpp"
#include "rounds.hpp"

namespace bench {

namespace json = boost::json;

namespace {

json::object figures_of(const std::string& name, const plan& what, const std::string& part, const std::string& hosts,
                        const std::vector<std::string>& options = {}) {
  if (what.peers.empty()) return {};
  return peer(what.peers, name, part, hosts, options).figures();
}

json::value cell(const json::object& figures, const std::string& name) {
  const auto* found = figures.if_contains(name);
  return found ? *found : json::value();
}

std::vector<operation> all_operations() {
  std::vector<operation> all;
  for (auto part : {&lock_operations, &gate_operations, &election_operations, &queue_operations, &barrier_operations}) {
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

}  // namespace

void delay_clients(int one_way_ms) {
  for (int id = 1; id <= server_count; ++id) cluster().proxy(id).set_delay(std::chrono::milliseconds(one_way_ms));
}

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

namespace {

/// A peer's program that does a round when it reads the name of a line.
class peer_rates {
 public:
  peer_rates(const std::string& name, const plan& what, const std::string& hosts)
      : program_(what.peers, name, "rates", hosts) {
    program_.line();  // ready
  }
  ~peer_rates() {
    program_.tell("");
    program_.line();  // it has removed its nodes
  }

  std::optional<double> round(const std::string& line) {
    program_.tell(line);
    const auto said = json::parse(program_.line());
    return said.is_number() ? std::optional(said.to_number<double>()) : std::nullopt;
  }

 private:
  peer program_;
};

}  // namespace

/// All use the same server, because a leader and a follower do different work for their clients.
std::vector<row> rates(const plan& what) {
  const auto& hosts = direct_hosts().front();
  our_rates ours(hosts);
  bare_client bare(hosts);
  for (const auto* path : {"/bare-lock", "/bare-queue", "/bare-filled"}) bare.ensure(path);
  std::vector<contestant> all{{&row::ours, [&](const std::string& line) { return ours.round(line); }}};
  std::vector<std::unique_ptr<peer_rates>> peers;
  const auto add = [&](const char* name, figure row::*column) {
    if (what.peers.empty()) return;
    peers.push_back(std::make_unique<peer_rates>(name, what, hosts));
    all.push_back({column, [&one = *peers.back()](const std::string& line) { return one.round(line); }});
  };
  add("curator", &row::curator);
  add("kazoo", &row::kazoo);
  all.push_back({&row::bare, [&](const std::string& line) { return bare_round(bare, line); }});
  std::vector<row> rows;
  for (const auto& line : rate_lines()) rows.push_back(measure_in_turns(line, per_second, all, what.rounds));
  return rows;
}

}  // namespace bench
