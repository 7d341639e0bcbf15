// One limiter, shared by all threads.
#include <atomic>
#include <future>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <zkrecipes/flow/keyed_limiter.hpp>
#include <zkrecipes/flow/limiter.hpp>

#include "support/coroutine.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// A context that several threads run. Limiters need no servers.
class limiter_pool {
 public:
  static constexpr int width = 4;

  limiter_pool() : work_(asio::make_work_guard(io_)) {
    for (int i = 0; i < width; ++i) threads_.emplace_back([this] { io_.run(); });
  }
  ~limiter_pool() {
    work_.reset();
    for (auto& each : threads_) each.join();
  }

  asio::io_context& io() { return io_; }
  /// Calls a function in several threads at once, and waits for all of them.
  template <class What>
  static void in_threads(What what) {
    std::vector<std::thread> all;
    for (int i = 0; i < width; ++i) all.emplace_back([&what, i] { what(i); });
    for (auto& each : all) each.join();
  }
  /// The most cost that is let through from then until now.
  static double most(const limiter_options& options, lease_clock::time_point since) {
    const std::chrono::duration<double> time = lease_clock::now() - since;
    const std::chrono::duration<double> per = lease_clock::duration(options.per);
    return static_cast<double>(options.rate) * (time / per) + static_cast<double>(options.burst);
  }

 private:
  asio::io_context io_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::vector<std::thread> threads_;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(limiters_of_threads, limiter_pool)

BOOST_AUTO_TEST_CASE(the_bound_holds_for_all_of_them_together) {
  constexpr int tries = 20'000;
  const limiter_options options{.rate = 100'000, .per = 1s, .burst = 50};
  const auto begun = lease_clock::now();
  limiter bank(io(), options);
  std::atomic<std::uint64_t> acquired = 0;
  std::atomic<std::uint64_t> calls = 0;
  in_threads([&](int number) {
    const auto cost = static_cast<std::uint64_t>(number % 3 + 1);
    for (int i = 0; i < tries; ++i) {
      if (!bank.try_acquire(cost)) continue;
      acquired += cost;
      ++calls;
    }
  });
  BOOST_TEST(static_cast<double>(acquired) <= most(options, begun));
  BOOST_TEST(acquired >= 48u);  // a burst is there at once; the last call may cost 3
  const auto seen = bank.statistics();
  BOOST_TEST(seen.acquired == calls);
  BOOST_TEST(seen.acquired + seen.declined == std::uint64_t(tries) * width);
}

BOOST_AUTO_TEST_CASE(no_credit_is_used_twice) {
  const limiter_options options{.rate = 1, .per = 30s, .burst = 1'000'000};  // hardly any credit comes back meanwhile
  const auto begun = lease_clock::now();
  limiter bank(io(), options);
  std::atomic<std::uint64_t> acquired = 0;
  in_threads([&](int) {
    std::uint64_t mine = 0;
    while (mine <= options.burst && bank.try_acquire()) ++mine;
    acquired += mine;
  });
  BOOST_TEST(acquired >= options.burst);
  BOOST_TEST(static_cast<double>(acquired) <= most(options, begun));
}

BOOST_AUTO_TEST_CASE(waiting_cancelling_holding_off_and_trying_at_once) {
  constexpr int each_calls = 1'000;
  const limiter_options options{.rate = 200'000, .per = 1s, .burst = 10};
  const auto begun = lease_clock::now();
  limiter bank(io(), options);
  std::atomic<int> ended = 0;
  std::atomic<std::uint64_t> acquired = 0;
  auto one = [&](int number) -> asio::awaitable<void> {
    for (int i = 0; i < each_calls; ++i) {
      auto strand = co_await asio::this_coro::executor;
      asio::cancellation_signal stop;
      if (i % 7 == 0) asio::post(strand, [&stop] { stop.emit(asio::cancellation_type::total); });
      auto [error] = co_await bank.async_acquire(1, asio::bind_cancellation_slot(stop.slot(), tuple));
      if (i % 7 == 0) co_await asio::post(strand, asio::use_awaitable);  // behind the cancellation
      if (!error) ++acquired;
      if (number == 0 && i % 100 == 0) bank.hold_off(1ms);
      if (number == 1 && bank.try_acquire(2)) acquired += 2;
    }
    ++ended;
  };
  std::vector<std::future<void>> all;
  for (int i = 0; i < width; ++i) all.push_back(asio::co_spawn(asio::make_strand(io()), one(i), asio::use_future));
  for (auto& each : all) each.get();
  BOOST_TEST(ended == width);
  BOOST_TEST(static_cast<double>(acquired) <= most(options, begun));
  BOOST_TEST(bank.statistics().waiting == 0u);
}

BOOST_AUTO_TEST_CASE(the_level_is_taken_while_all_wait) {
  for (int i = 0; i < 50; ++i) {
    limiter bank(io(), {.rate = 1, .per = 1h, .start_empty = true});
    const auto future = asio::use_future([](error_code error) { return error; });
    std::vector<std::future<error_code>> waiting;
    for (int k = 0; k < 8; ++k) waiting.push_back(bank.async_acquire(1, future));
    std::thread taking([bank]() mutable { bank.take_level(); });
    for (auto& each : waiting) BOOST_TEST((each.get() == errc::closed));
    taking.join();
  }
}

BOOST_AUTO_TEST_CASE(the_bound_holds_for_each_key) {
  constexpr int keys = 100;
  constexpr int tries = 20'000;
  const auto begun = lease_clock::now();
  keyed_limiter accounts(io(), {.rate = 1'000, .per = 1s, .burst = 5, .coalesce = keep::newest});
  std::vector<std::atomic<int>> acquired(keys);
  std::atomic<int> under_way = 0;
  in_threads([&](int) {
    for (int i = 0; i < tries; ++i) {
      const auto which = static_cast<std::size_t>(i % keys);
      const auto key = std::to_string(which);
      if (accounts.try_acquire(key)) ++acquired[which];
      if (i % 10 != 0) continue;
      ++under_way;
      accounts.async_acquire(key, [&, which](error_code error) {
        if (!error) ++acquired[which];
        --under_way;
      });
    }
  });
  while (under_way != 0) std::this_thread::yield();
  const auto bound = most({.rate = 1'000, .per = 1s, .burst = 5}, begun);
  for (auto& each : acquired) BOOST_TEST(static_cast<double>(each) <= bound);
  const auto sum = std::accumulate(acquired.begin(), acquired.end(), std::uint64_t(0),
                                   [](auto all, const auto& each) { return all + static_cast<std::uint64_t>(each); });
  BOOST_TEST(accounts.statistics().acquired == sum);
  BOOST_TEST(accounts.statistics().waiting == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
