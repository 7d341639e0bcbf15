#include "topic_team.hpp"

#include <algorithm>
#include <deque>
#include <iostream>

#include "asynchronous.hpp"
#include "peers.hpp"
#include "topic_consumer.hpp"

namespace bench {

namespace {

/// The messages of each shard.
awaitable<std::vector<std::size_t>> count_messages(std::string hosts, std::uint32_t shards) {
  auto ex = co_await asio::this_coro::executor;
  zkrecipes::session zk(ex, {.hosts = hosts, .timeout = 30s});
  auto from = topic_of(zk, shards);
  auto all = co_await from.async_shards(use_awaitable);
  std::vector<std::size_t> counts;
  for (const auto& each : all) counts.push_back(each.messages);
  co_await zk.async_close(use_awaitable);
  co_return counts;
}

/// A consumer of one shard, and its election.
struct worker {
  worker(const zkrecipes::session& zk, const zkrecipes::topic& of, std::uint32_t shard)
      : career(of.feed(shard, topic_paths::group), {.window = 256}, false),
        coordinator(zk, topic_paths::coordinator + std::to_string(shard), {.id = "bench"}) {
    coordinator.async_run(career, [this](zkrecipes::error_code) { has_ended = true; });
  }

  topic_consumer career;
  zkrecipes::consumer_coordinator coordinator;
  bool has_ended = false;
};

}  // namespace

delivery_result consume_as_team(const plan& what, const topic_backlog& backlog, std::uint32_t processes) {
  asio::io_context io;
  const auto counts = run_coroutine(io, count_messages(backlog.hosts(), backlog.shards()), 1min);
  const auto share = backlog.shards() / processes;
  std::deque<peer> team;
  for (std::uint32_t i = 0; i < processes; ++i) {
    team.emplace_back(std::vector{what.self, std::string("--work-off"), std::to_string(backlog.shards()),
                                  std::to_string(i * share), std::to_string(share), std::string("--hosts"),
                                  backlog.hosts()});
  }
  for (auto& each : team) each.line();
  const auto begin = clock::now();
  for (std::uint32_t i = 0; i < processes; ++i) {
    std::size_t messages = 0;
    for (auto shard = i * share; shard < (i + 1) * share; ++shard) messages += counts.at(shard);
    team[i].tell(std::to_string(messages));
  }
  delivery_result seen;
  for (auto& each : team) seen.commits += std::stod(each.line());
  seen.rate = backlog.count() / (ms_since(begin) / 1000);
  for (auto& each : team) each.tell("");
  for (auto& each : team) each.figures();
  return seen;
}

void consume_share(const std::string& hosts, std::uint32_t shards, std::uint32_t first, std::uint32_t count) {
  asio::io_context io;
  zkrecipes::session zk(io.get_executor(), {.hosts = hosts, .timeout = 30s});
  if (std::get<0>(run_coroutine(io, zk.async_connected(tuple), 1min))) throw std::runtime_error("no connection");
  std::cout << "ready" << std::endl;
  std::string line;
  std::getline(std::cin, line);
  const auto messages = std::stoull(line);
  const auto all = topic_of(zk, shards);
  std::deque<worker> workers;
  for (auto shard = first; shard < first + count; ++shard) workers.emplace_back(zk, all, shard);
  const auto sum = [&](auto which) {
    std::uint64_t total = 0;
    for (auto& each : workers) total += each.career.status().*which;
    return total;
  };
  if (!run_until(
          io, [&] { return sum(&zkrecipes::queue_consumer_status::done) >= messages; }, 2min))
    throw std::runtime_error("the consumers of a topic do not go on");
  std::cout << sum(&zkrecipes::queue_consumer_status::commits) << std::endl;
  for (auto& each : workers) each.coordinator.stop();
  run_until(
      io, [&] { return std::ranges::all_of(workers, &worker::has_ended); }, 1min);
  std::getline(std::cin, line);
  run_coroutine(io, zk.async_close(tuple), 1min);
  std::cout << R"({"operations":{}})" << std::endl;
}

}  // namespace bench
