// The safety time of a gate, and its timer.
#include <boost/test/unit_test.hpp>

#include "unit/entering.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace std::chrono_literals;

BOOST_FIXTURE_TEST_SUITE(gate_times, entering)

BOOST_AUTO_TEST_CASE(the_safety_time_counts_from_the_start_of_the_processing) {
  auto g = make_gate({.safety = 30s});
  auto slow = enter(g, "k");
  advance(29s);
  auto next = enter(g, "k");
  advance(999ms);
  BOOST_TEST(!next.done());
  BOOST_TEST(is_in(slow));
  advance(1ms);
  BOOST_TEST(is_in(next));
  BOOST_TEST(is_evicted(slow));
}

BOOST_AUTO_TEST_CASE(a_late_leave_does_not_throw_the_successor_out) {
  auto g = make_gate({.safety = 30s});
  auto slow = enter(g, "k");
  auto next = enter(g, "k");
  advance(30s);
  auto third = enter(g, "k");
  leave(slow);
  BOOST_TEST(is_in(next));
  BOOST_TEST(!third.done());
  advance(29s);
  BOOST_TEST(is_in(next));
  advance(1s);
  BOOST_TEST(is_evicted(next));
  BOOST_TEST(is_in(third));
  leave(third);
  leave(next);
  BOOST_TEST(g.statistics().active == 0u);
}

BOOST_AUTO_TEST_CASE(a_processing_with_nobody_behind_it_costs_no_timer_and_stays_valid) {
  auto g = make_gate({.safety = 30s});
  auto slow = enter(g, "k");
  BOOST_TEST(timers() == 0u);
  advance(1h);
  BOOST_TEST(is_in(slow));
  auto next = enter(g, "k");
  BOOST_TEST(is_in(next));
  BOOST_TEST(is_evicted(slow));
  advance(1h);
  auto tried = g.try_enter("k");
  BOOST_TEST((tried && tried->valid()));
  BOOST_TEST(is_evicted(next));
  BOOST_TEST(g.statistics().evicted == 2u);
  BOOST_TEST(timers() == 0u);
}

BOOST_AUTO_TEST_CASE(the_timer_is_there_only_while_somebody_waits) {
  auto g = make_gate({.safety = 30s});
  auto first = enter(g, "k");
  auto second = enter(g, "k");
  BOOST_TEST(timers() == 1u);
  leave(first);
  BOOST_TEST(is_in(second));
  BOOST_TEST(timers() == 0u);
  auto third = enter(g, "k");
  BOOST_TEST(timers() == 1u);
  third.cancel();
  settle();
  BOOST_TEST(timers() == 0u);
}

BOOST_AUTO_TEST_CASE(one_timer_serves_all_and_is_set_for_the_first_that_is_due) {
  auto g = make_gate({.safety = 30s});
  auto old = enter(g, "old");
  advance(10s);
  auto young = enter(g, "young");
  auto behind_young = enter(g, "young");
  auto behind_old = enter(g, "old");
  BOOST_TEST(timers() == 1u);
  advance(20s);
  BOOST_TEST(is_in(behind_old));
  BOOST_TEST(!behind_young.done());
  BOOST_TEST(timers() == 1u);
  advance(10s);
  BOOST_TEST(is_in(behind_young));
  BOOST_TEST(timers() == 0u);
}

BOOST_AUTO_TEST_CASE(all_that_are_due_together_get_in) {
  auto g = make_gate({.safety = 30s});
  std::vector<entrant> heads;
  std::vector<entrant> waiters;
  for (int i = 0; i < 500; ++i) heads.push_back(enter(g, std::to_string(i)));
  for (int i = 0; i < 500; ++i) waiters.push_back(enter(g, std::to_string(i)));
  advance(30s);
  for (int i = 0; i < 500; ++i) {
    BOOST_TEST_REQUIRE(is_in(waiters[i]));
    BOOST_TEST_REQUIRE(is_evicted(heads[i]));
  }
  BOOST_TEST(timers() == 0u);
}

BOOST_AUTO_TEST_CASE(a_caller_that_comes_before_a_late_timer_lets_the_waiter_in_first) {
  auto g = make_gate({.safety = 30s});
  auto first = enter(g, "k");
  auto second = enter(g, "k");
  state().now += 31s;  // the timer has not run yet, because the machine is busy
  auto third = enter(g, "k");
  BOOST_TEST(is_evicted(first));
  BOOST_TEST(is_in(second));
  BOOST_TEST(!third.done());
  state().now += 31s;
  BOOST_TEST(!g.try_enter("k").has_value());
  settle();
  BOOST_TEST(is_evicted(second));
  BOOST_TEST(is_in(third));
  BOOST_TEST(g.statistics().evicted == 2u);
}

BOOST_AUTO_TEST_CASE(without_a_limit_nobody_is_evicted) {
  auto g = make_gate({.safety = std::chrono::hours::max()});
  auto first = enter(g, "k");
  auto second = enter(g, "k");
  BOOST_TEST(timers() == 0u);
  advance(10'000h);
  BOOST_TEST(is_in(first));
  leave(first);
  BOOST_TEST(is_in(second));
}

BOOST_AUTO_TEST_SUITE_END()
