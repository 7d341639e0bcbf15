// Queues: in round trips, and with many clients.
#include <algorithm>

#include "asynchronous.hpp"
#include "operations.hpp"
#include "parts.hpp"

namespace bench {

// Queues in round trips.

namespace {

/// Measures the second put of an object, because the first one measures the length of the list before it.
awaitable<double> put(setting& where, std::string path) {
  zkrecipes::queue queue(where.first, path);
  co_await queue.async_put("item", use_awaitable);
  auto first = co_await queue.async_take(use_awaitable);
  co_await queue.async_acknowledge(first, use_awaitable);
  const auto begin = clock::now();
  co_await queue.async_put("item", use_awaitable);
  const double took = ms_since(begin);
  auto item = co_await queue.async_take(use_awaitable);
  co_await queue.async_acknowledge(item, use_awaitable);
  co_return took;
}

/// Measures a take from a list that is already known, as it is while there is work.
awaitable<double> take(setting& where, std::string path, bool acknowledge) {
  zkrecipes::queue queue(where.first, path);
  for (int i = 0; i < 3; ++i) co_await queue.async_put("item", use_awaitable);
  auto first = co_await queue.async_take(use_awaitable);
  const auto begin = clock::now();
  auto second = co_await queue.async_take(use_awaitable);
  if (acknowledge) co_await queue.async_acknowledge(second, use_awaitable);
  const double took = ms_since(begin);
  if (!acknowledge) co_await queue.async_acknowledge(second, use_awaitable);
  co_await queue.async_acknowledge(first, use_awaitable);
  auto third = co_await queue.async_take(use_awaitable);
  co_await queue.async_acknowledge(third, use_awaitable);
  co_return took;
}

awaitable<double> take_only(setting& where, std::string path) { co_return co_await take(where, path, false); }
awaitable<double> take_and_acknowledge(setting& where, std::string path) { co_return co_await take(where, path, true); }

}  // namespace

std::vector<operation> queue_operations() {
  return {{"queue put", "queue put", &put},
          {"queue take", "queue take", &take_only},
          {"queue take and acknowledge", "queue take and acknowledge", &take_and_acknowledge}};
}

// Queues with many takers, many producers, and many idle takers.

namespace {

constexpr int backlog = 4000;
constexpr int puts_each = 40;
constexpr int ample = 1'000'000;
constexpr int burst = 50;
const std::string idle_path = "/bench-idle";

/// Sessions of one process, each with an object for the same queue, and a count of their requests.
class crowd_of_sessions {
 public:
  crowd_of_sessions(asio::io_context& io, std::string hosts, std::string path, int size,
                    const zkrecipes::queue_options& how = {})
      : io_(io) {
    for (int i = 0; i < size; ++i) {
      zkrecipes::session_options options{.hosts = hosts, .timeout = 30s};
      options.trace = [counts = counts_](const zkrecipes::trace_event& event) {
        counts->requests += event.operation != "sync";
        counts->transactions += event.operation == "multi";
      };
      sessions_.emplace_back(io.get_executor(), std::move(options));
      queues_.emplace_back(sessions_.back(), path, how);
    }
    run_coroutine(io_, connect());
  }
  ~crowd_of_sessions() { run_coroutine(io_, close()); }

  /// Requests of all sessions together, since the last call of `count`.
  struct totals {
    double requests = 0;
    double transactions = 0;
  };
  totals count() { return std::exchange(*counts_, {}); }

  std::vector<zkrecipes::session>& sessions() { return sessions_; }
  std::vector<zkrecipes::queue>& queues() { return queues_; }

  /// Runs one coroutine for each queue object, until the last one has ended.
  template <class Each>
  void all(Each each) {
    int left = static_cast<int>(queues_.size());
    for (auto& one : queues_) {
      asio::co_spawn(io_, each(one), [&left](std::exception_ptr failure) {
        if (failure) std::rethrow_exception(failure);
        --left;
      });
    }
    if (!run_until(
            io_, [&] { return left == 0; }, 3min))
      throw std::runtime_error("a queue does not go on");
  }

 private:
  awaitable<bool> connect() {
    for (auto& each : sessions_) co_await each.async_connected(use_awaitable);
    co_return true;
  }
  awaitable<bool> close() {
    for (auto& each : sessions_) co_await each.async_close(use_awaitable);
    co_return true;
  }

  asio::io_context& io_;
  std::shared_ptr<totals> counts_ = std::make_shared<totals>();
  std::vector<zkrecipes::session> sessions_;
  std::vector<zkrecipes::queue> queues_;
};

awaitable<bool> fill(zkrecipes::queue& queue, int items) {
  const std::vector<std::string> some(100, "x");
  for (int i = 0; i < items; i += 100) co_await queue.async_put_many(some, use_awaitable);
  co_return true;
}

/// Takers take and acknowledge until they have taken the whole backlog together.
void takers(int size, std::vector<row>& rows) {
  asio::io_context io;
  const auto path = "/bench-takers-" + std::to_string(size);
  crowd_of_sessions crowd(io, join_hosts(direct_hosts()), path, size);
  run_coroutine(io, fill(crowd.queues().front(), backlog), 1min);
  crowd.count();
  int left = backlog;
  const auto begin = clock::now();
  crowd.all([&left](zkrecipes::queue& queue) -> awaitable<void> {
    while (left-- > 0) {
      auto item = co_await queue.async_take(use_awaitable);
      co_await queue.async_acknowledge(item, use_awaitable);
    }
  });
  const double seconds = ms_since(begin) / 1000;
  const auto sent = crowd.count();
  const auto name = std::to_string(size) + (size == 1 ? " taker" : " takers");
  rows.push_back({name + ", items taken and acknowledged a second", "a backlog of 4 000 items", backlog / seconds});
  rows.push_back({name + ", claims an item", "a backlog of 4 000 items", sent.transactions / backlog - 1});
}

void limited_producers(int size, std::vector<row>& rows) {
  asio::io_context io;
  const auto path = "/bench-limited-" + std::to_string(size);
  crowd_of_sessions crowd(io, join_hosts(direct_hosts()), path, size, {.limit = ample});
  run_coroutine(io, fill(crowd.queues().front(), 100), 1min);
  crowd.count();
  const auto begin = clock::now();
  crowd.all([](zkrecipes::queue& queue) -> awaitable<void> {
    for (int i = 0; i < puts_each; ++i) co_await queue.async_put("x", use_awaitable);
  });
  const double seconds = ms_since(begin) / 1000;
  const double puts = size * puts_each;
  const auto name = std::to_string(size) + (size == 1 ? " producer" : " producers");
  rows.push_back({name + ", requests a put", "a queue with a limit", crowd.count().requests / puts});
  rows.push_back({name + ", items put a second", "a queue with a limit", puts / seconds});
}

awaitable<void> until_in_line(zkrecipes::session zk, std::size_t waiting) {
  const std::string line = idle_path + "/_idle";
  co_await zk.async_ensure_path(line, use_awaitable);
  for (std::int64_t seen = 0;;) {
    auto all = co_await zk.async_children_change(line, seen, use_awaitable);
    if (all.names.size() == waiting) break;
    seen = all.stat.pzxid;
  }
}

/// The time from putting many items at once until the last of as many waiting takers has its item.
row idle_takers(const plan& what) {
  asio::io_context io;
  for (int id = 1; id <= server_count; ++id) cluster().proxy(id).set_delay(std::chrono::milliseconds(what.one_way_ms));
  double round_trips = 0;
  {
    crowd_of_sessions crowd(io, join_hosts(proxy_hosts()), idle_path, burst);
    clock::time_point begin;
    crowd.all([&](zkrecipes::queue& queue) -> awaitable<void> {
      if (&queue == &crowd.queues().front()) {
        co_await until_in_line(crowd.sessions().front(), burst - 1);
        begin = clock::now();
        co_await queue.async_put_many(std::vector<std::string>(burst, "x"), use_awaitable);
      }
      auto item = co_await queue.async_take(use_awaitable);
      round_trips = std::max(round_trips, ms_since(begin) / (2 * what.one_way_ms));
      co_await queue.async_acknowledge(item, use_awaitable);
    });
  }
  for (int id = 1; id <= server_count; ++id) cluster().proxy(id).set_delay(0ms);
  return {"50 takers that wait, 50 items at once: the last one starts",
          "round trips of " + std::to_string(2 * what.one_way_ms) + " ms", round_trips};
}

}  // namespace

std::vector<row> queues(const plan& what) {
  std::vector<row> rows;
  for (int size : {1, 4, 16, 64}) takers(size, rows);
  for (int size : {1, 5, 20, 50}) limited_producers(size, rows);
  rows.push_back(idle_takers(what));
  return rows;
}

}  // namespace bench
