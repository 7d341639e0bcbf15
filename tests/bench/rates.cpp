#include "rates.hpp"

#include <algorithm>

#include <sys/resource.h>

#include "asynchronous.hpp"
#include "bare.hpp"
#include "parts.hpp"
#include "rounds.hpp"

namespace bench {

// The processor time of a request in the client: ours and the C client alone, measured in turns in this thread.

namespace {

constexpr int requests = 4000;
constexpr int at_once = 100;

double cpu_ms() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1000 + static_cast<double>(t.tv_usec) / 1000;
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

/// Milliseconds of processor time for a thousand requests.
double cpu_of(const std::function<void()>& what) {
  const double before = cpu_ms();
  what();
  return (cpu_ms() - before) * 1000 / requests;
}

awaitable<bool> get_one_by_one(zkrecipes::session& zk) {
  for (int i = 0; i < requests; ++i) co_await zk.async_get("/", use_awaitable);
  co_return true;
}

/// Uses callbacks, as a library on top of ours would.
void get_with_callbacks(asio::io_context& io, zkrecipes::session& zk) {
  for (int round = 0; round < requests / at_once; ++round) {
    int left = at_once;
    for (int i = 0; i < at_once; ++i) {
      zk.async_get("/", asio::bind_executor(io, [&left](zkrecipes::error_code, const auto&...) { --left; }));
    }
    run_until(io, [&] { return left == 0; });
  }
}

}  // namespace

std::vector<row> cpu(const plan& what) {
  const auto& hosts = direct_hosts().front();
  asio::io_context io;
  zkrecipes::session zk(io.get_executor(), {.hosts = hosts, .timeout = std::chrono::seconds(30)});
  bare_client bare(hosts);
  const std::string unit = "CPU ms of the client, 1 000 requests";
  auto bare_one_by_one = [&] {
    for (int i = 0; i < requests; ++i) bare.get("/");
  };
  auto bare_at_once = [&] {
    for (int i = 0; i < requests / at_once; ++i) bare.get_at_once("/", at_once);
  };
  const auto line = [&](const std::string& name, const std::function<void()>& ours,
                        const std::function<void()>& floor) {
    return measure_in_turns(name, unit,
                            {{&row::ours, [&](const std::string&) { return std::optional(cpu_of(ours)); }},
                             {&row::bare, [&](const std::string&) { return std::optional(cpu_of(floor)); }}},
                            what.rounds);
  };
  std::vector<row> rows;
  rows.push_back(line(
      "get, one after the other, coroutine", [&] { run_coroutine(io, get_one_by_one(zk)); }, bare_one_by_one));
  rows.push_back(line(
      "get, 100 at once, callbacks", [&] { get_with_callbacks(io, zk); }, bare_at_once));
  auto close = [&]() -> awaitable<bool> {
    co_await zk.async_close(use_awaitable);
    co_return true;
  };
  run_coroutine(io, close());
  return rows;
}

namespace {

// As in the peers' programs.
constexpr int contenders = 4;
constexpr int locks = 400;
constexpr int items = 400;
constexpr int many_items = 1000;

/// Counts down to a moment.
class countdown {
 public:
  countdown(asio::any_io_executor ex, int count) : reached_(std::move(ex)), left_(count) {}
  void one_less() {
    if (--left_ == 0) reached_.note();
  }
  awaitable<void> wait() { co_await reached_.wait(); }

 private:
  moment reached_;
  int left_;
};

awaitable<void> lock_many(zkrecipes::lock lock, int count) {
  for (int i = 0; i < count; ++i) {
    auto held = co_await lock.async_acquire(use_awaitable);
    co_await held.async_release(use_awaitable);
  }
}

awaitable<void> contend(std::vector<zkrecipes::session>& clients) {
  auto ex = co_await asio::this_coro::executor;
  countdown done(ex, contenders);
  for (const auto& each : clients) {
    asio::co_spawn(ex, lock_many(zkrecipes::lock(each, "/rates/contended"), locks / contenders),
                   [&](std::exception_ptr failure) {
                     if (failure) std::rethrow_exception(failure);
                     done.one_less();
                   });
  }
  co_await done.wait();
}

awaitable<void> put_one_by_one(zkrecipes::queue& queue) {
  for (int i = 0; i < items; ++i) co_await queue.async_put("x", use_awaitable);
}

awaitable<void> take_one_by_one(zkrecipes::queue& queue) {
  for (int i = 0; i < items; ++i) {
    auto item = co_await queue.async_take(use_awaitable);
    co_await queue.async_acknowledge(item, use_awaitable);
  }
}

/// Puts all items at once. `Target` is a queue, which sends each item by itself, or a producer, which makes batches.
template <class Target>
awaitable<void> put_at_once(Target& target) {
  auto ex = co_await asio::this_coro::executor;
  countdown done(ex, many_items);
  for (int i = 0; i < many_items; ++i) {
    target.async_put("x", asio::bind_executor(ex, [&](const zkrecipes::error_code& error, const auto&) {
                       if (error) throw boost::system::system_error(error, "put");
                       done.one_less();
                     }));
  }
  co_await done.wait();
}

constexpr const char* free_locks = "locks, free";
constexpr const char* contended_locks = "locks, contended by four clients";
constexpr const char* puts = "queue items put one by one";
constexpr const char* takes = "queue items taken one by one";
constexpr const char* batches = "queue items put in batches";
constexpr const char* puts_at_once = "queue items put without waiting";

double count_of(const std::string& line) {
  if (line == free_locks || line == contended_locks) return locks;
  return line == puts || line == takes ? items : many_items;
}

awaitable<std::vector<zkrecipes::session>> connect(std::string hosts) {
  auto ex = co_await asio::this_coro::executor;
  const zkrecipes::session_options options{.hosts = std::move(hosts), .timeout = std::chrono::seconds(30)};
  std::vector<zkrecipes::session> clients;
  for (int i = 0; i < contenders; ++i) {
    clients.emplace_back(ex, options);
    co_await clients.back().async_connected(use_awaitable);
  }
  co_return clients;
}

awaitable<bool> close(std::vector<zkrecipes::session>& clients) {
  for (auto& each : clients) co_await each.async_close(use_awaitable);
  co_return true;
}

awaitable<bool> completing(awaitable<void> what) {
  co_await std::move(what);
  co_return true;
}

}  // namespace

std::vector<std::string> rate_lines() { return {free_locks, contended_locks, puts, takes, batches, puts_at_once}; }

our_rates::our_rates(const std::string& hosts)
    : clients_(zkrecipes::test::run_coroutine(io_, connect(hosts))),
      queue_(std::make_unique<zkrecipes::queue>(clients_.front(), "/rates/queue")),
      filled_(std::make_unique<zkrecipes::queue>(clients_.front(), "/rates/filled")),
      producer_(std::make_unique<zkrecipes::producer>(*filled_, "bench")) {}

our_rates::~our_rates() { zkrecipes::test::run_coroutine(io_, close(clients_)); }

double our_rates::round(const std::string& line) {
  auto body = [&]() -> awaitable<void> {
    if (line == free_locks) return lock_many(zkrecipes::lock(clients_.front(), "/rates/lock"), locks);
    if (line == contended_locks) return contend(clients_);
    if (line == puts) return put_one_by_one(*queue_);
    if (line == takes) return take_one_by_one(*queue_);
    return line == batches ? put_at_once(*producer_) : put_at_once(*filled_);
  };
  const auto begin = clock::now();
  zkrecipes::test::run_coroutine(io_, completing(body()), std::chrono::minutes(1));
  return count_of(line) / ms_since(begin) * 1000;
}

namespace {

void lock_bare(bare_client& client) {
  for (int i = 0; i < locks; ++i) client.remove(client.enter("/bare-lock", "lock-"));
}

/// Lists all items once, then gets and removes each.
void take_bare(bare_client& client) {
  const auto names = client.children("/bare-queue");
  for (std::size_t i = 0; i < items; ++i) {
    const auto path = "/bare-queue/" + names.at(i);
    client.get(path);
    client.remove(path);
  }
}

}  // namespace

std::optional<double> bare_round(bare_client& client, const std::string& line) {
  const auto begin = clock::now();
  if (line == free_locks) {
    lock_bare(client);
  } else if (line == puts) {
    client.create_items("/bare-queue/qn-", items);
  } else if (line == takes) {
    take_bare(client);
  } else if (line == puts_at_once) {
    client.create_items_at_once("/bare-filled/qn-", many_items);
  } else {
    return std::nullopt;
  }
  return count_of(line) / ms_since(begin) * 1000;
}

}  // namespace bench
