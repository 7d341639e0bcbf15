// What a limiter lets through, and what it passes on.
#include <boost/asio/detached.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>

#include <zkrecipes/flow.hpp>
#include <zkrecipes/zkrecipes.hpp>

#include "unit/limiting.hpp"
#include "unit/refusal.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(limiters, limiting)

BOOST_AUTO_TEST_CASE(a_burst_passes_at_once_and_then_the_rate) {
  auto bank = make({.rate = 100, .per = 1s, .burst = 20});
  BOOST_TEST(drain(bank) == 20);
  advance(9ms);
  BOOST_TEST(drain(bank) == 0);
  advance(1ms);
  BOOST_TEST(drain(bank) == 1);
  advance(100ms);
  BOOST_TEST(drain(bank) == 10);
  advance(1h);
  BOOST_TEST(drain(bank) == 20);
}

BOOST_AUTO_TEST_CASE(a_call_takes_its_cost) {
  auto bank = make({.rate = 10, .per = 1s, .burst = 10});
  BOOST_TEST(bank.try_acquire(7));
  BOOST_TEST(!bank.try_acquire(4));
  BOOST_TEST(bank.try_acquire(3));
  advance(500ms);
  BOOST_TEST(!bank.try_acquire(6));
  BOOST_TEST(bank.try_acquire(5));
}

BOOST_AUTO_TEST_CASE(a_cost_that_can_never_pass_is_refused) {
  auto bank = make({.rate = 10, .per = 1s, .burst = 10});
  BOOST_TEST(!bank.try_acquire(0));
  BOOST_TEST(!bank.try_acquire(11));
  BOOST_TEST(!bank.try_acquire(UINT64_MAX));
  auto& none = expect();
  auto& huge = expect();
  auto& most = expect();
  bank.async_acquire(0, none.token());
  bank.async_acquire(11, huge.token());
  bank.async_acquire_for(UINT64_MAX, 1s, most.token());
  BOOST_TEST(!none.done());
  settle();
  for (auto& each : all) BOOST_TEST(ended_with(each, errc::bad_arguments));
  BOOST_TEST(bank.try_acquire(10));
}

BOOST_AUTO_TEST_CASE(an_odd_rate_is_rounded_down_and_never_up) {
  auto bank = make({.rate = 3, .per = 1us, .burst = 1});  // 333.3 ns, taken as 333.375 ns
  int count = 0;
  const auto until = now() + 1ms;
  while (now() < until) {
    if (bank.try_acquire()) ++count;
    advance(1ns);
  }
  BOOST_TEST(count <= 3000);
  BOOST_TEST(count >= 2990);
}

BOOST_AUTO_TEST_CASE(a_hold_off_lets_nothing_through_and_then_one) {
  auto bank = make({.rate = 10, .per = 1s, .burst = 10});
  bank.hold_off(30s);
  BOOST_TEST(drain(bank) == 0);
  advance(30s - 1ns);
  BOOST_TEST(drain(bank) == 0);
  advance(1ns);
  BOOST_TEST(drain(bank) == 1);
  advance(100ms);
  BOOST_TEST(drain(bank) == 1);
}

BOOST_AUTO_TEST_CASE(the_longer_hold_off_counts) {
  auto bank = make({.rate = 10, .per = 1s, .burst = 10});
  bank.hold_off(20s);
  bank.hold_off(5s);
  bank.hold_off(0s);
  bank.hold_off(-5s);
  advance(19s);
  BOOST_TEST(drain(bank) == 0);
  bank.hold_off(3s);
  advance(1s);
  BOOST_TEST(drain(bank) == 0);
  advance(2s);
  BOOST_TEST(drain(bank) == 1);
  BOOST_TEST(bank.statistics().held_off == 2u);
}

BOOST_AUTO_TEST_CASE(a_hold_off_has_an_end) {
  auto bank = make({.rate = 1, .per = 24h * 366, .burst = 1, .level = 24h * 732});
  bank.hold_off(std::chrono::hours::max());
  BOOST_TEST((bank.level() == 24h * 732));
  advance(24h * 732);
  BOOST_TEST(drain(bank) == 1);
  bank.hold_off(std::chrono::hours::max());
  advance(24h * 366);
  BOOST_TEST(drain(bank) == 1);
}

BOOST_AUTO_TEST_CASE(the_longest_level_is_accepted_by_the_successor) {
  auto bank = make({.rate = 32, .per = 1'011'916'801ns, .burst = 999'999'999});
  bank.hold_off(std::chrono::hours::max());
  const auto level = bank.take_level();
  BOOST_TEST((level > 24h * 732));
  auto next = make({.rate = 32, .per = 1'011'916'801ns, .burst = 999'999'999, .level = level});
  BOOST_TEST((next.level() == level));
}

BOOST_AUTO_TEST_CASE(the_level_is_what_is_missing) {
  auto bank = make({.rate = 100, .per = 1s, .burst = 20});
  BOOST_TEST((bank.level() == 0ns));
  bank.try_acquire(5);
  BOOST_TEST((bank.level() == 50ms));
  advance(20ms);
  BOOST_TEST((bank.level() == 30ms));
  advance(1h);
  BOOST_TEST((bank.level() == 0ns));
  bank.hold_off(1s);
  BOOST_TEST((bank.level() == 1190ms));
}

BOOST_AUTO_TEST_CASE(a_successor_continues_with_the_level) {
  auto old = make({.rate = 100, .per = 1s, .burst = 20});
  old.try_acquire(15);
  const auto level = old.take_level();
  BOOST_TEST((level == 150ms));
  BOOST_TEST(!old.try_acquire());
  auto next = make({.rate = 100, .per = 1s, .burst = 20, .level = level});
  BOOST_TEST(drain(next) == 5);
  advance(50ms);
  BOOST_TEST((old.take_level() == 100ms));
  BOOST_TEST(drain(old) == 0);
}

BOOST_AUTO_TEST_CASE(a_successor_goes_on_with_the_hold_off) {
  auto old = make({.rate = 100, .per = 1s, .burst = 20});
  old.hold_off(1min);
  auto next = make({.rate = 100, .per = 1s, .burst = 20, .level = old.take_level()});
  old.hold_off(1h);  // too late: it has ended
  advance(1min - 1ns);
  BOOST_TEST(drain(next) == 0);
  advance(1ns);
  BOOST_TEST(drain(next) == 1);
}

BOOST_AUTO_TEST_CASE(after_a_forced_hand_over_there_is_no_credit) {
  auto bank = make({.rate = 100, .per = 1s, .burst = 20, .start_empty = true});
  BOOST_TEST(drain(bank) == 0);
  advance(10ms);
  BOOST_TEST(drain(bank) == 1);
  auto both = make({.rate = 100, .per = 1s, .burst = 20, .level = 1s, .start_empty = true});
  BOOST_TEST((both.level() == 1s));
}

BOOST_AUTO_TEST_CASE(what_has_been_done_is_counted) {
  auto bank = make({.rate = 10, .per = 1s, .burst = 2});
  BOOST_TEST(drain(bank) == 2);
  bank.async_acquire(1, expect().token());
  bank.async_acquire(1, expect().token());
  auto& late = expect();
  bank.async_acquire_for(1, 250ms, late.token());
  BOOST_TEST(bank.statistics().waiting == 2u);
  BOOST_TEST(!bank.try_acquire());
  advance(200ms);
  bank.hold_off(1s);
  BOOST_TEST(ended_with(late, errc::timed_out));
  const limiter_statistics expected{
      .acquired = 4, .waited = 2, .declined = 3, .held_off = 1, .waiting = 0, .time_waited = 300ms};
  BOOST_TEST((bank.statistics() == expected));
}

BOOST_AUTO_TEST_CASE(one_that_stands_for_nothing_lets_nothing_through) {
  limiter none;
  BOOST_TEST(!none.try_acquire());
  none.hold_off(1s);
  BOOST_TEST((none.take_level() == 0ns && none.level() == 0ns));
  BOOST_TEST((none.statistics() == limiter_statistics()));
  BOOST_TEST(none.options().rate == 0u);
  BOOST_TEST(!none.get_executor());
  none.async_acquire(1, expect().token());
  none.async_acquire_for(1, 1s, expect().token());
  settle();
  for (auto& each : all) BOOST_TEST(ended_with(each, errc::closed));
}

BOOST_AUTO_TEST_CASE(bad_options_are_named) {
  const auto said = [this](limiter_options options) { return refusal([&] { make(options); }); };
  BOOST_TEST(said({}).starts_with("limiter_options::rate is 0; it must be from 1"));
  BOOST_TEST(said({.rate = 1'000'000'001}).starts_with("limiter_options::rate"));
  BOOST_TEST(said({.rate = 1, .per = 0s}).starts_with("limiter_options::per is 0 ns; it must be from 1 us"));
  BOOST_TEST(said({.rate = 1, .per = 999ns}).starts_with("limiter_options::per"));
  BOOST_TEST(said({.rate = 1, .per = std::chrono::hours::max()}).starts_with("limiter_options::per"));
  BOOST_TEST(said({.rate = 1, .burst = 0}).starts_with("limiter_options::burst is 0;"));
  BOOST_TEST(said({.rate = 1, .burst = 1'000'000'001}).starts_with("limiter_options::burst"));
  BOOST_TEST(said({.rate = 1, .per = 24h * 366, .burst = 2}).starts_with("limiter_options::burst is 2; it must come"));
  BOOST_TEST(said({.rate = 1, .level = -1ns}).starts_with("limiter_options::level is -1 ns;"));
  BOOST_TEST(said({.rate = 1, .level = 24h * 732 + 1s + 1ns}).starts_with("limiter_options::level"));
  BOOST_TEST(said({.rate = 1, .per = 24h * 366}) == "");
  BOOST_TEST(said({.rate = 1'000'000'000, .per = 1us, .burst = 1'000'000'000}) == "");
  BOOST_TEST(refusal([] { limiter(asio::any_io_executor(), {.rate = 1}); }).starts_with("limiter executor"));
}

BOOST_AUTO_TEST_SUITE_END()

// Operations that wait for a limiter.
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
