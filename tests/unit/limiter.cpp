// What a limiter lets through, and what it passes on.
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
