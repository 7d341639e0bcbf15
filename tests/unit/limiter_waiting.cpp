// Operations that wait for a limiter.
#include <boost/asio/detached.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>

#include "unit/limiting.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// A limiter without credit, of one call in 10 ms.
struct limiter_case : limiting {
  limiter bank = make({.rate = 100, .per = 1s, .burst = 20, .start_empty = true});
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(limiter_waits, limiter_case)

BOOST_AUTO_TEST_CASE(with_credit_it_completes_and_not_inside_the_call) {
  advance(1s);
  auto& mine = expect();
  bank.async_acquire(20, mine.token());
  BOOST_TEST(!mine.done());
  settle();
  BOOST_TEST(ended_with(mine, error_code()));
  BOOST_TEST(bank.statistics().waited == 0u);
}

BOOST_AUTO_TEST_CASE(those_that_wait_are_served_in_order_of_arrival) {
  bank.async_acquire(10, expect("a").token());
  bank.async_acquire(1, expect("b").token());
  bank.async_acquire(5, expect("c").token());
  advance(100ms - 1ns);
  BOOST_TEST(order == "");
  advance(1ns);
  BOOST_TEST(order == "a");
  advance(10ms);
  BOOST_TEST(order == "ab");
  advance(50ms);
  BOOST_TEST(order == "abc");
}

BOOST_AUTO_TEST_CASE(nobody_overtakes_one_that_waits) {
  bank.async_acquire(10, expect("a").token());
  advance(50ms);
  BOOST_TEST(!bank.try_acquire());
  bank.async_acquire(1, expect("b").token());
  settle();
  BOOST_TEST(order == "");
  advance(50ms);
  BOOST_TEST(order == "a");
}

BOOST_AUTO_TEST_CASE(there_is_a_timer_only_while_somebody_waits) {
  BOOST_TEST(timers() == 0u);
  for (int i = 0; i < 100; ++i) bank.async_acquire(1, expect().token());
  settle();
  BOOST_TEST(timers() == 1u);
  advance(500ms);
  BOOST_TEST(timers() == 1u);
  advance(500ms);
  BOOST_TEST(timers() == 0u);
  BOOST_TEST(bank.statistics().waiting == 0u);
  bank.hold_off(1h);
  bank.try_acquire();
  settle();
  BOOST_TEST(timers() == 0u);
  BOOST_TEST(io().stopped());
}

BOOST_AUTO_TEST_CASE(a_cancelled_one_leaves_its_credit_to_the_next) {
  auto& first = expect("a");
  bank.async_acquire(20, first.token());
  bank.async_acquire(5, expect("b").token());
  advance(60ms);
  BOOST_TEST(order == "");
  first.cancel();
  BOOST_TEST(!first.done());
  settle();
  BOOST_TEST(ended_with(first, asio::error::operation_aborted));
  BOOST_TEST(order == "b");
  BOOST_TEST(bank.try_acquire());
  BOOST_TEST(!bank.try_acquire());
  BOOST_TEST(timers() == 0u);
}

BOOST_AUTO_TEST_CASE(a_cancelled_one_in_the_middle_shortens_the_line) {
  bank.async_acquire(1, expect("a").token());
  auto& middle = expect("b");
  bank.async_acquire(10, middle.token());
  bank.async_acquire(1, expect("c").token());
  middle.cancel(asio::cancellation_type::partial);
  settle();
  BOOST_TEST(ended_with(middle, asio::error::operation_aborted));
  middle.cancel();  // once more: it is over
  advance(20ms);
  BOOST_TEST(order == "ac");
  BOOST_TEST(middle.calls() == 1);
}

BOOST_AUTO_TEST_CASE(a_cancellation_that_is_none_changes_nothing) {
  auto& mine = expect("a");
  bank.async_acquire(1, mine.token());
  mine.cancel(asio::cancellation_type::none);
  advance(10ms);
  BOOST_TEST(order == "a");
}

/// Whenever it comes, the operation ends once, and the credit is used or left.
BOOST_AUTO_TEST_CASE(a_cancellation_can_come_at_any_moment) {
  for (auto moment = 0ms; moment <= 25ms; moment += 1ms) {
    for (const bool is_settled : {false, true}) {
      auto from = make({.rate = 100, .per = 1s, .burst = 2, .start_empty = true});
      auto& first = expect();
      auto& second = expect();
      from.async_acquire(1, first.token());
      from.async_acquire(1, second.token());
      if (is_settled)
        advance(moment);
      else
        state().now += moment;  // the timer and the cancellation come together
      first.cancel();
      advance(50ms);
      BOOST_TEST(first.calls() == 1);
      BOOST_TEST(ended_with(second, error_code()));
      const auto acquired = from.statistics().acquired;
      BOOST_TEST(acquired == (first.error() ? 1u : 2u));
      BOOST_TEST(from.try_acquire(2));  // all of it has come back
    }
  }
  BOOST_TEST(timers() == 0u);
}

BOOST_AUTO_TEST_CASE(a_budget_that_is_too_short_is_told_at_once) {
  bank.async_acquire(3, expect("a").token());
  auto& late = expect("b");
  auto& in_time = expect("c");
  auto& now_or_never = expect("d");
  bank.async_acquire_for(2, 50ms - 1ns, late.token());
  bank.async_acquire_for(2, 50ms, in_time.token());
  bank.async_acquire_for(1, 0s, now_or_never.token());
  settle();
  BOOST_TEST(ended_with(late, errc::timed_out));
  BOOST_TEST(ended_with(now_or_never, errc::timed_out));
  advance(50ms);
  BOOST_TEST(order == "ac");
  BOOST_TEST(timers() == 0u);
}

BOOST_AUTO_TEST_CASE(a_budget_of_nothing_takes_what_is_there) {
  advance(10ms);
  auto& mine = expect("a");
  auto& more = expect("b");
  bank.async_acquire_for(1, -1s, mine.token());
  bank.async_acquire_for(1, 0s, more.token());
  settle();
  BOOST_TEST(order == "a");
  BOOST_TEST(ended_with(more, errc::timed_out));
  BOOST_TEST(timers() == 0u);
  advance(10ms);
  BOOST_TEST(bank.try_acquire());  // nobody is left in the line
}

BOOST_AUTO_TEST_CASE(a_hold_off_delays_those_that_wait_and_ends_those_that_can_not) {
  bank.async_acquire(1, expect("a").token());
  auto& short_of_time = expect("b");
  bank.async_acquire_for(1, 100ms, short_of_time.token());
  bank.async_acquire_for(1, 2s, expect("c").token());
  bank.hold_off(1s);
  settle();
  BOOST_TEST(ended_with(short_of_time, errc::timed_out));
  advance(1s - 1ns);
  BOOST_TEST(order == "");
  advance(1ns);
  BOOST_TEST(order == "a");
  advance(10ms);
  BOOST_TEST(order == "ac");
}

BOOST_AUTO_TEST_CASE(a_hold_off_ends_those_that_would_come_too_late_behind_others) {
  bank.async_acquire(1, expect("a").token());
  auto& behind = expect("b");
  bank.async_acquire_for(1, 1s + 5ms, behind.token());  // it would be in time if nobody were ahead of it
  bank.async_acquire_for(1, 1s + 10ms, expect("c").token());
  bank.hold_off(1s);
  settle();
  BOOST_TEST(ended_with(behind, errc::timed_out));
  advance(1s + 10ms);
  BOOST_TEST(order == "ac");
}

BOOST_AUTO_TEST_CASE(those_that_wait_are_told_when_the_level_is_taken) {
  auto& first = expect();
  auto& second = expect();
  auto& after = expect();
  bank.async_acquire(1, first.token());
  bank.async_acquire(2, second.token());
  BOOST_TEST((bank.take_level() == 200ms));
  bank.async_acquire(1, after.token());
  settle();
  for (auto& each : all) BOOST_TEST(ended_with(each, errc::closed));
  BOOST_TEST(timers() == 0u);
}

BOOST_AUTO_TEST_CASE(operations_outlive_the_object) {
  bank.async_acquire(1, expect("a").token());
  bank.async_acquire(1, expect("b").token());
  bank = limiter();
  advance(20ms);
  BOOST_TEST(order == "ab");
  BOOST_TEST(timers() == 0u);
}

BOOST_AUTO_TEST_CASE(any_completion_token_will_do) {
  auto awaited = [this]() -> asio::awaitable<bool> {
    co_await bank.async_acquire();
    auto [error] = co_await bank.async_acquire(1, tuple);
    co_return !error;
  };
  auto ended = asio::co_spawn(io(), awaited(), asio::use_future);
  auto promised = bank.async_acquire(1, asio::use_future);
  advance(30ms);
  BOOST_TEST(ended.get());
  promised.get();
  bank.async_acquire_for(1, 0s, asio::use_future);
  auto refused = bank.async_acquire_for(1, 0s, asio::use_future);
  settle();
  BOOST_CHECK_THROW(refused.get(), boost::system::system_error);
}

BOOST_AUTO_TEST_CASE(a_handler_runs_on_its_own_executor) {
  auto own = asio::make_strand(io());
  bool done = false;
  bank.async_acquire(1, asio::bind_executor(own, [&](error_code) {
                       done = true;
                       BOOST_TEST(own.running_in_this_thread());
                     }));
  advance(10ms);
  BOOST_TEST(done);
}

/// A coroutine that waits holds the limiter, and the limiter the coroutine. The sanitizer finds what is left behind.
BOOST_AUTO_TEST_CASE(a_context_that_is_destroyed_takes_those_that_wait_along) {
  auto guard = std::make_shared<int>();
  const std::weak_ptr<int> watch = guard;
  for (int i = 0; i < 3; ++i) {
    auto waits = [](limiter from, std::shared_ptr<int>) -> asio::awaitable<void> {
      co_await from.async_acquire();
      BOOST_ERROR("let through");
    };
    asio::co_spawn(io(), waits(bank, guard), asio::detached);
  }
  auto& mine = expect();
  bank.async_acquire(1, mine.token());
  guard.reset();
  settle();
  BOOST_TEST(timers() == 1u);
  bank = limiter();
  destroy_context();
  BOOST_TEST(watch.expired());
  BOOST_TEST(timers() == 0u);
  mine.cancel();  // its slot is still there
  BOOST_TEST(!mine.done());
}

BOOST_AUTO_TEST_CASE(a_context_can_be_destroyed_before_anything_has_run) {
  bank.async_acquire(1, expect().token());
  advance(1s);
  bank.async_acquire(1, expect().token());
  bank = limiter();
  destroy_context();
  BOOST_TEST(timers() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
