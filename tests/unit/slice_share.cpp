// The slices of a process: they count while their terms are valid; those that wait for them.
#include "rate/slice_share.hpp"

#include <map>

#include "unit/limiting.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using detail::slice_share;

namespace {

/// A rate of 1000 a second in 10 slices with bursts of 5, in the share of a process.
struct share_case : limiting {
  share_case() { share->open(1); }
  void add(std::uint32_t from, std::uint32_t to) {
    for (auto each = from; each < to; ++each) {
      valid_until[each] = detail::never;
      share->add(each, [this, each] { return valid_until[each]; });
    }
  }
  void acquire(recorder<>& by, std::uint64_t cost = 1) {
    share->acquire(by.token(), cost, lease_clock::duration::max());
  }
  int drain_all() {
    int count = 0;
    while (share->try_acquire(1)) ++count;
    return count;
  }
  shared_limiter_status status() {
    shared_limiter_status shown;
    share->show_in(shown);
    return shown;
  }

  std::map<std::uint32_t, lease_clock::time_point> valid_until;
  std::shared_ptr<slice_share> share =
      std::make_shared<slice_share>(make_scheduler(), detail::slice_credit(1000, 1s, 50, 10));
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(slice_shares, share_case)

BOOST_AUTO_TEST_CASE(without_slices_nothing_is_let_through) {
  advance(1h);
  BOOST_TEST(drain_all() == 0);
  BOOST_TEST(status().slices == 0u);
}

BOOST_AUTO_TEST_CASE(the_part_of_the_rate_is_that_of_the_slices) {
  add(0, 4);
  BOOST_TEST(drain_all() == 0);
  advance(20ms);
  BOOST_TEST(drain_all() == 8);
  share->remove(2);
  share->remove(2);
  share->remove(7);
  advance(20ms);
  BOOST_TEST(drain_all() == 6);
  BOOST_TEST(status().slices == 3u);
  BOOST_TEST(share->statistics().acquired == 14u);
}

BOOST_AUTO_TEST_CASE(nothing_is_let_through_behind_the_end_of_the_lease) {
  add(0, 10);
  const auto end = now() + 1s;
  for (auto& [number, until] : valid_until) until = end;
  advance(1s - 1ns);
  BOOST_TEST(share->try_acquire(1));
  BOOST_TEST((status().valid_until == end));
  advance(1ns);  // looked at a nanosecond ago
  BOOST_TEST(drain_all() == 0);
  BOOST_TEST(status().slices == 0u);
  BOOST_TEST((status().valid_until == lease_clock::time_point()));
}

BOOST_AUTO_TEST_CASE(a_slice_that_is_given_up_behind_our_back_counts_for_10_ms_at_most) {
  add(0, 10);
  advance(1s);
  BOOST_TEST(share->try_acquire(1));
  for (std::uint32_t each = 0; each < 9; ++each) valid_until[each] = {};
  advance(10ms);
  BOOST_TEST(drain_all() == 5, "the burst of one");
  BOOST_TEST(status().slices == 1u);
}

BOOST_AUTO_TEST_CASE(a_validity_that_comes_back_brings_no_credit) {
  add(0, 10);
  advance(1s);
  const auto end = now();
  for (auto& [number, until] : valid_until) until = end;
  BOOST_TEST(drain_all() == 0);
  for (auto& [number, until] : valid_until) until = detail::never;
  advance(10ms);
  BOOST_TEST(drain_all() == 0);
  advance(10ms);
  BOOST_TEST(drain_all() == 10);
}

BOOST_AUTO_TEST_CASE(one_that_waits_is_let_through_when_a_validity_comes_back) {
  add(0, 10);
  for (auto& [number, until] : valid_until) until = {};
  auto& mine = expect();
  acquire(mine);
  advance(1s);
  BOOST_TEST(!mine.done());
  for (auto& [number, until] : valid_until) until = detail::never;
  advance(11ms);
  BOOST_TEST(ended_with(mine, error_code()));
  BOOST_TEST(timers() == 0u);
}

BOOST_AUTO_TEST_CASE(those_that_wait_without_a_share_are_served_in_order_when_it_comes) {
  acquire(expect("a"), 5);
  acquire(expect("b"));
  acquire(expect("c"), 2);
  BOOST_TEST(timers() == 0u);
  advance(1h);
  BOOST_TEST(order == "");
  add(0, 10);
  BOOST_TEST(!share->try_acquire(1), "nobody is overtaken");
  advance(5ms - 1ns);
  BOOST_TEST(order == "");
  advance(1ns);
  BOOST_TEST(order == "a");
  advance(1ms);
  BOOST_TEST(order == "ab");
  advance(2ms);
  BOOST_TEST(order == "abc");
  BOOST_TEST(timers() == 0u);
  BOOST_TEST(share->statistics().waited == 3u);
}

BOOST_AUTO_TEST_CASE(a_share_that_changes_moves_the_time_of_those_that_wait) {
  add(0, 10);
  acquire(expect("a"), 5);
  advance(2ms);
  for (std::uint32_t each = 0; each < 8; ++each) share->remove(each);  // 2 are earned
  advance(15ms - 1ns);
  BOOST_TEST(order == "");
  advance(1ns);
  BOOST_TEST(order == "a");
  acquire(expect("b"), 5);
  advance(1ms);
  add(0, 8);
  advance(5ms);
  BOOST_TEST(order == "ab");
}

BOOST_AUTO_TEST_CASE(the_last_slice_goes_and_those_that_wait_go_on_waiting) {
  add(0, 1);
  acquire(expect("a"));
  share->remove(0);
  settle();
  BOOST_TEST(timers() == 0u);
  advance(1h);
  add(1, 2);
  advance(10ms);
  BOOST_TEST(order == "a");
}

BOOST_AUTO_TEST_CASE(a_budget_that_is_over_is_told_then) {
  auto& none = expect();
  share->acquire(none.token(), 1, 0s);
  settle();
  BOOST_TEST(ended_with(none, errc::timed_out));
  auto& later = expect();
  auto& sooner = expect();
  auto& last = expect("last");
  share->acquire(later.token(), 1, 20ms);
  share->acquire(sooner.token(), 1, 10ms);
  acquire(last);
  advance(10ms);
  BOOST_TEST(ended_with(sooner, errc::timed_out));
  BOOST_TEST(!later.done());
  advance(10ms);
  BOOST_TEST(ended_with(later, errc::timed_out));
  BOOST_TEST(timers() == 0u);
  add(0, 10);
  advance(1ms);
  BOOST_TEST(ended_with(last, error_code()));
  BOOST_TEST(share->statistics().declined == 3u);
}

BOOST_AUTO_TEST_CASE(a_cancelled_one_leaves_its_credit_to_the_next) {
  add(0, 10);
  auto& big = expect("big");
  acquire(big, 5);
  acquire(expect("small"));
  advance(2ms);
  big.cancel();
  settle();
  BOOST_TEST(ended_with(big, asio::error::operation_aborted));
  BOOST_TEST(order == "small");
  BOOST_TEST(timers() == 0u);
  auto& timed = expect();
  share->acquire(timed.token(), 5, 1h);
  timed.cancel();
  settle();
  BOOST_TEST(ended_with(timed, asio::error::operation_aborted));
  BOOST_TEST(timers() == 0u);
}

BOOST_AUTO_TEST_CASE(a_cost_that_a_slice_can_not_let_through_is_refused) {
  add(0, 10);
  advance(1s);
  BOOST_TEST(!share->try_acquire(0));
  BOOST_TEST(!share->try_acquire(6));
  acquire(expect(), 0);
  acquire(expect(), 6);
  settle();
  for (auto& each : all) BOOST_TEST(ended_with(each, errc::bad_arguments));
  BOOST_TEST(share->try_acquire(5));
}

BOOST_AUTO_TEST_CASE(a_hold_off_delays_those_that_wait) {
  add(0, 10);
  acquire(expect("a"), 5);
  share->hold_off(1s);
  share->hold_off(500ms);
  advance(1s);
  BOOST_TEST(order == "");
  BOOST_TEST(!share->try_acquire(1));
  advance(4ms);  // a cost of 1 has been there
  BOOST_TEST(order == "a");
  BOOST_TEST(share->statistics().held_off == 1u);
}

BOOST_AUTO_TEST_CASE(the_end_of_a_run_ends_those_that_wait) {
  acquire(expect());
  share->close(1);
  settle();
  BOOST_TEST(ended_with(all.back(), errc::closed));
  acquire(expect());
  settle();
  BOOST_TEST(ended_with(all.back(), errc::closed));
  share->open(2);
  share->close(1);  // the end of an earlier run, told late
  acquire(expect("a"));
  add(0, 10);
  advance(1ms);
  BOOST_TEST(order == "a");
  BOOST_TEST(timers() == 0u);
}

BOOST_AUTO_TEST_CASE(a_context_that_is_destroyed_takes_those_that_wait_along) {
  auto guard = std::make_shared<int>();
  const std::weak_ptr<int> watch = guard;
  add(0, 1);
  share->acquire(asio::bind_executor(io().get_executor(), [guard, keeps = share](error_code) {}), 1, 1h);
  guard.reset();
  settle();
  BOOST_TEST(timers() == 1u);
  share.reset();
  destroy_context();
  BOOST_TEST(watch.expired());
  BOOST_TEST(timers() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
