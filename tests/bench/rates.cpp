#include "rates.hpp"

#include "stopwatch.hpp"

#include <zkrecipes/zkrecipes.hpp>

#include <boost/asio.hpp>

#include <algorithm>
#include <functional>
#include <vector>

namespace bench {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;

namespace {

// As in the peers' programs.
constexpr int rounds = 3;
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

/// Puts all of them at once; `Target` is a queue, which sends each by itself, or a producer, which makes
/// batches.
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

using round = std::function<awaitable<void>()>;

awaitable<double> rate(int count, round what) {
  std::vector<double> samples;
  for (int i = 0; i < rounds; ++i) {
    const auto begin = clock::now();
    co_await what();
    samples.push_back(count / ms_since(begin) * 1000);
  }
  std::sort(samples.begin(), samples.end());
  co_return samples[rounds / 2];
}

using figures = std::vector<std::pair<std::string, double>>;

awaitable<void> measure(std::string hosts, figures& rates) {
  auto ex = co_await asio::this_coro::executor;
  const zkrecipes::session_options options{.hosts = hosts};
  std::vector<zkrecipes::session> clients;
  for (int i = 0; i < contenders; ++i) {
    clients.emplace_back(ex, options);
    co_await clients.back().async_connected(use_awaitable);
  }
  auto& zk = clients.front();
  zkrecipes::lock lock(zk, "/rates/lock");
  zkrecipes::queue queue(zk, "/rates/queue");
  zkrecipes::queue filled(zk, "/rates/filled");
  zkrecipes::producer producer(filled, "bench");
  struct line {
    const char* name;
    int count;
    round what;
  };
  const std::vector<line> lines{
      {"locks, free", locks, [&] { return lock_many(lock, locks); }},
      {"locks, contended by four clients", locks, [&] { return contend(clients); }},
      {"queue items put one by one", items, [&] { return put_one_by_one(queue); }},
      {"queue items taken one by one", items, [&] { return take_one_by_one(queue); }},
      {"queue items put in batches", many_items, [&] { return put_at_once(producer); }},
      {"queue items put without waiting", many_items, [&] { return put_at_once(filled); }}};
  for (const auto& each : lines) {
    const double value = co_await rate(each.count, each.what);
    rates.emplace_back(each.name, value);
  }
  for (auto& each : clients) co_await each.async_close(use_awaitable);
}

}  // namespace

std::vector<std::pair<std::string, double>> measure_rates(const std::string& hosts) {
  asio::io_context io;
  figures rates;
  asio::co_spawn(io, measure(hosts, rates), [](std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
  });
  io.run();
  return rates;
}

}  // namespace bench
