#include "topic_rounds.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iostream>

#include "asynchronous.hpp"
#include "bare.hpp"
#include "peers.hpp"

namespace bench {

delivery_result work_off(asio::io_context& io, const zkrecipes::session& zk, const char* path, timed_consumer& career,
                         int count) {
  zkrecipes::consumer_coordinator coordinator(zk, path, {.id = "bench"});
  bool ended = false;
  coordinator.async_run(career, [&](zkrecipes::error_code) { ended = true; });
  const auto all = static_cast<std::uint64_t>(count);
  const auto is_done = [&] { return ended || career.status().done == all; };
  if (!run_until(io, is_done, 2min) || ended) throw std::runtime_error("a consumer does not go on");
  const double seconds = ms_since(career.began()) / 1000;
  const auto commits = static_cast<double>(career.status().commits);
  coordinator.stop();
  run_until(
      io, [&] { return ended; }, 1min);
  return {count / seconds, commits};
}

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

namespace {

constexpr int most_waiting = 20'000;
constexpr int topic_keys = 1'000;
constexpr int messages_before = 1'000;  // so that the topic, its shards and the record of the producer are there

awaitable<bool> prepare(zkrecipes::session& zk) {
  for (const auto* path : {topic_paths::effects, topic_paths::record, topic_paths::position}) {
    co_await zk.async_ensure_path(path, use_awaitable);
  }
  co_return true;
}

awaitable<bool> clear(zkrecipes::session& zk) {
  for (const auto* path : {topic_paths::topic, topic_paths::effects, topic_paths::record, topic_paths::position}) {
    auto removed = co_await zk.async_remove_with_children(path, asio::as_tuple(use_awaitable));
    const auto error = std::get<0>(removed);
    if (error && error != zkrecipes::errc::no_node) throw boost::system::system_error(error, path);
  }
  co_await zk.async_close(use_awaitable);
  co_return true;
}

awaitable<bool> close(zkrecipes::session& zk) {
  co_await zk.async_close(use_awaitable);
  co_return true;
}

zkrecipes::topic_message message_of(int number) {
  auto key = "key-" + std::to_string(number % topic_keys);
  auto data = std::string(topic_message_bytes - key.size(), 'd');
  return {std::move(key), std::move(data)};
}

/// Puts messages one after the other, as long as not too many wait.
class putter {
 public:
  putter(zkrecipes::topic_producer& by, int count) : by_(by), count_(count) {}

  void go_on() {
    while (put_ < count_ && put_ - done_ < most_waiting) {
      auto [key, data] = message_of(put_++);
      by_.async_put(std::move(key), std::move(data), [this](zkrecipes::error_code error, auto) {
        if (error) throw boost::system::system_error(error, "put");
        ++done_;
        go_on();
      });
    }
  }
  bool is_done() const { return done_ == count_; }

 private:
  zkrecipes::topic_producer& by_;
  int count_;
  int put_ = 0;
  int done_ = 0;
};

/// Puts a thousand messages with each call, all calls at once.
class thousands_putter {
 public:
  thousands_putter(zkrecipes::topic_producer& by, int count) : by_(by), count_(count) {}

  void go_on() {
    for (int put = 0; put < count_;) {
      std::vector<zkrecipes::topic_message> some;
      for (const int end = std::min(put + 1'000, count_); put < end; ++put) some.push_back(message_of(put));
      by_.async_put_all(std::move(some), [this](zkrecipes::error_code error, std::uint64_t count) {
        if (error) throw boost::system::system_error(error, "put");
        done_ += static_cast<int>(count);
      });
    }
  }
  bool is_done() const { return done_ == count_; }

 private:
  zkrecipes::topic_producer& by_;
  int count_;
  int done_ = 0;
};

}  // namespace

topic_backlog::topic_backlog(std::string hosts, std::uint32_t shards) : hosts_(std::move(hosts)), shards_(shards) {
  asio::io_context io;
  zkrecipes::session zk(io.get_executor(), {.hosts = hosts_, .timeout = 30s});
  run_coroutine(io, prepare(zk), 1min);
  run_coroutine(io, close(zk), 1min);
}

topic_backlog::~topic_backlog() {
  asio::io_context io;
  zkrecipes::session zk(io.get_executor(), {.hosts = hosts_, .timeout = 30s});
  run_coroutine(io, clear(zk), 2min);
}

template <class Putter>
double topic_backlog::fill_by(int count) {
  asio::io_context io;
  zkrecipes::session zk(io.get_executor(), {.hosts = hosts_, .timeout = 30s});
  zkrecipes::topic_producer by(topic_of(zk, shards_), "bench");
  const auto put = [&](int some) {
    Putter all(by, some);
    const auto begin = clock::now();
    all.go_on();
    if (!run_until(
            io, [&] { return all.is_done(); }, 2min))
      throw std::runtime_error("a producer does not go on");
    return ms_since(begin) / 1000;
  };
  const int before = std::min(count, messages_before);
  put(before);
  const int rest = count - before;
  const double seconds = put(rest);
  count_ += count;
  run_coroutine(io, close(zk), 1min);
  return rest / seconds;
}

double topic_backlog::fill(int count) { return fill_by<putter>(count); }

double topic_backlog::fill_by_thousands(int count) { return fill_by<thousands_putter>(count); }

double put_bare(const std::string& hosts, std::uint32_t shards, int count) {
  const topic_backlog there(hosts, shards);  // removes what is put below the path of the topic
  bare_client client(hosts);
  const zkrecipes::topic_producer_options options;
  constexpr std::size_t packed = topic_message_bytes + 8;  // with the lengths of key and data
  constexpr std::size_t most_bytes_under_way = 4 * 1024 * 1024;
  constexpr std::size_t most_bytes_of_node = 256 * 1024;
  const auto messages = std::min(options.max_batch, options.max_bytes / packed);
  const auto nodes = std::max<std::size_t>(shards, (messages * packed + most_bytes_of_node - 1) / most_bytes_of_node);
  client.ensure(topic_paths::topic);
  client.ensure(std::string(topic_paths::topic) + "/record");
  log_puts all{std::string(topic_paths::topic) + "/record",
               {},
               messages * packed / nodes,
               static_cast<std::size_t>(count) / messages,
               most_bytes_under_way / (messages * packed)};
  for (std::uint32_t i = 0; i < shards; ++i) client.ensure(topic_paths::topic + ('/' + std::to_string(i)));
  for (std::size_t i = 0; i < nodes; ++i) {
    all.nodes.push_back(topic_paths::topic + ('/' + std::to_string(i % shards)) + "/b-");
  }
  const auto begin = clock::now();
  client.put(all);
  return static_cast<double>(all.transactions * messages) / ms_since(begin) * 1000;
}

delivery_result consume_topic(const std::string& hosts, const topic_backlog& backlog, const topic_consumption& how) {
  asio::io_context io;
  zkrecipes::session zk(io.get_executor(), {.hosts = hosts, .timeout = 30s});
  zkrecipes::queue_consumer_options options;
  options.window = how.window;
  topic_consumer career(topic_of(zk, backlog.shards()).feed(0, topic_paths::group), options, how.creates);
  const auto seen = work_off(io, zk, topic_paths::coordinator, career, backlog.count());
  run_coroutine(io, close(zk), 1min);
  return seen;
}

delivery_result consume_topic_bare(const std::string& hosts, const topic_backlog& backlog,
                                   const topic_consumption& how) {
  bare_client client(hosts);
  const std::string shard = std::string(topic_paths::topic) + "/0000";
  auto batches = client.children(shard);
  std::erase_if(batches, [](const std::string& each) { return !each.starts_with("b-"); });
  std::ranges::sort(batches, {}, [](const std::string& each) { return each.substr(each.size() - 10); });
  delivery_result seen;
  const auto begin = clock::now();
  const auto count = static_cast<std::size_t>(backlog.count());
  const auto in_one = std::max<std::size_t>(count / batches.size(), 1);
  for (std::size_t done = 0, batch = 0; done < count;) {
    log_commit next{topic_paths::record, topic_paths::position, topic_paths::effects, done, {}, {}, {}};
    done += next.messages = std::min(how.window, count - done);
    next.creates = how.creates;
    while (batch < batches.size() && (batch + 1) * in_one <= done) {
      const auto path = shard + '/' + batches[batch++];
      next.read_meanwhile.push_back(path);
      next.removed.push_back(path);
    }
    client.move_on(next);
    ++seen.commits;
  }
  seen.rate = backlog.count() / ms_since(begin) * 1000;
  return seen;
}

}  // namespace bench
