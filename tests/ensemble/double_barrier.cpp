// The double barrier: its members enter together and leave together, again and again.
#include "ensemble/double_barrier_case.hpp"
#include "ensemble/request_log.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(double_barrier_rounds, double_barrier_case)

BOOST_AUTO_TEST_CASE(members_enter_together_and_leave_together) {
  auto& first = wait();
  BOOST_TEST(!first.entered.done());
  auto& second = come();
  expect_in(first, 1);
  expect_in(second, 1);
  first.leave();
  BOOST_TEST_REQUIRE(run_until([&] { return present() == 1; }));
  settle(first.zk);
  BOOST_TEST(!first.left.done(), "the other is still inside");
  second.leave();
  expect_out(first);
  expect_out(second);
  BOOST_TEST(first.inside().error() == errc::closed);
  finish();
}

BOOST_AUTO_TEST_CASE(it_can_be_used_again_and_again) {
  for (int round = 1; round <= 5; ++round) {
    auto& first = come(3);
    auto& second = come(3);
    auto& third = come(3);
    for (auto* each : {&first, &second, &third}) expect_in(*each, round);
    leave_all({&first, &second, &third});
  }
  finish();
}

BOOST_AUTO_TEST_CASE(one_alone_meets_itself) {
  auto& only = come(1);
  expect_in(only, 1);
  leave_all({&only});
  finish();
}

BOOST_AUTO_TEST_CASE(more_comers_than_places_wait_for_the_next_round) {
  auto& first = wait();
  auto& second = wait();
  expect_in(first, 1);
  expect_in(second, 1);
  auto& third = wait();
  auto& fourth = wait();
  auto& fifth = wait();
  settle(fifth.zk);
  for (auto* each : {&third, &fourth, &fifth}) BOOST_TEST(!each->entered.done());
  first.leave();
  BOOST_TEST_REQUIRE(run_until([&] { return present() == 4; }));
  settle(third.zk);
  BOOST_TEST(!third.entered.done(), "the last round is not over");
  second.leave();
  expect_out(first);
  expect_out(second);
  expect_in(third, 2);
  expect_in(fourth, 2);
  BOOST_TEST(!fifth.entered.done());
  leave_all({&third, &fourth});
  auto& sixth = come();
  expect_in(fifth, 3);
  expect_in(sixth, 3);
  leave_all({&fifth, &sixth});
  finish();
}

BOOST_AUTO_TEST_CASE(the_fast_may_leave_before_the_slow_have_seen_the_opening) {
  auto& slow = wait(connect_far());
  own().freeze(true);
  auto& fast = come();
  expect_in(fast, 1);
  fast.leave();
  BOOST_TEST_REQUIRE(run_until([&] { return present() == 1; }));
  auto& next = wait();
  own().freeze(false);
  expect_in(slow, 1);
  BOOST_TEST(!fast.left.done());
  BOOST_TEST(!next.entered.done(), "a round is not opened over one that somebody has yet to see");
  slow.leave();
  expect_out(slow);
  expect_out(fast);
  auto& last = come();
  expect_in(next, 2);
  expect_in(last, 2);
  leave_all({&next, &last});
  finish();
}

BOOST_AUTO_TEST_CASE(what_a_crashed_round_left_behind_neither_lets_in_nor_keeps_out) {
  create("/m", R"({"zkrecipes":"double_barrier","round":7,"members":["00000000-0000-0000-0000-000000000000"]})");
  auto& first = wait();
  settle(first.zk);
  BOOST_TEST(!first.entered.done());
  auto& second = come();
  expect_in(first, 8);
  expect_in(second, 8);
  leave_all({&first, &second});
  finish();
}

BOOST_AUTO_TEST_CASE(foreign_children_are_no_members) {
  create("/m");
  create("/m/ready");
  create("/m/_c_6b1f0000-0000-0000-0000-000000000000-2-member-");
  create("/m/member-0000000001");
  auto& only = wait();
  settle(only.zk);
  BOOST_TEST(!only.entered.done());
  auto& second = come();
  expect_in(only, 1);
  expect_in(second, 1);
  leave_all({&only, &second});
  for (const auto& name : children("/m")) remove("/m/" + name);
  finish();
}

BOOST_AUTO_TEST_CASE(the_sizes_have_to_agree) {
  auto& first = wait(3);
  auto& other = come(2);
  BOOST_TEST_REQUIRE(run_until([&] { return other.entered.done(); }));
  BOOST_TEST(other.entered.error() == errc::size_mismatch);
  BOOST_TEST(other.why.text() == "we came for a round of 2 members, the first at /m for one of 3");
  BOOST_TEST(run_until([&] { return present() == 1; }));
  auto& second = come(3);
  auto& third = come(3);
  for (auto* each : {&first, &second, &third}) expect_in(*each, 1);
  leave_all({&first, &second, &third});
  auto& smaller = come(1);
  expect_in(smaller, 2);
  leave_all({&smaller});
  finish();
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_named) {
  for (int size : {0, -1, 1001}) BOOST_CHECK_THROW(double_barrier(zk(), "/m", size), std::invalid_argument);
  BOOST_CHECK_THROW(double_barrier(zk(), "m", 2), std::invalid_argument);
  BOOST_CHECK_THROW(double_barrier(zk(), "/m", 2, {.id = ""}), std::invalid_argument);
  create("/m", "somebody else's");
  auto& only = come();
  BOOST_TEST_REQUIRE(run_until([&] { return only.entered.done(); }));
  BOOST_TEST(only.entered.error() == errc::foreign_data);
  BOOST_TEST(only.why.text() == "the data of /m is not of a double barrier");
  finish();
}

BOOST_AUTO_TEST_CASE(the_last_one_in_asks_twice) {
  auto& first = wait(connect_far());
  own().freeze(true);  // otherwise the first in line, which also sees to the opening, may be quicker
  request_log log;
  auto with = options();
  with.trace = log.hook();
  auto counted = connect(with);
  settle(counted);
  log.clear();
  auto& last = come(counted);
  expect_in(last, 1);
  // The create and the reads of the record and of the list are sent together; then comes the opening. The watch on its
  // own node is set beside them.
  BOOST_TEST(log.count("create") == 1);
  BOOST_TEST(log.count("children") == 1);
  BOOST_TEST(log.count("multi") == 1);
  own().freeze(false);
  expect_in(first, 1);
  leave_all({&first, &last});
  finish();
}

BOOST_AUTO_TEST_SUITE_END()
