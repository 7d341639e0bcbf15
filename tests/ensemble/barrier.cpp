// The barrier: raised, lifted, waited for; no lift is lost.
#include <zkrecipes/barrier.hpp>

#include "ensemble/double_barrier_case.hpp"
#include "ensemble/ensemble_case.hpp"
#include "ensemble/request_log.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct barrier_case : ensemble_case {
  barrier over(session& which) { return barrier(which, "/b"); }

  std::int64_t raise(session& which) { return must(run(over(which).async_raise(tuple))); }
  void lift(session& which) { must(run(over(which).async_lift(tuple))); }
  /// Starts a wait, and checks that the barrier as it stands holds it back.
  void wait(session& which, recorder<>& told) {
    over(which).async_wait(told.token());
    settle(which);
    settle(which);  // the wait's own requests were sent before this
    BOOST_TEST_REQUIRE(!told.done());
  }
  void expect_through(recorder<>& told) {
    BOOST_TEST_REQUIRE(succeeds(told));
    BOOST_TEST(told.calls() == 1);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(barrier_lifts, barrier_case)

BOOST_AUTO_TEST_CASE(it_holds_whoever_waits_until_it_is_lifted) {
  BOOST_TEST(!std::get<0>(run(over(zk()).async_wait(tuple))), "not raised: holds nobody");
  raise(zk());
  auto other = connect();
  recorder<> first(executor()), second(executor());
  wait(zk(), first);
  wait(other, second);
  lift(other);
  expect_through(first);
  expect_through(second);
}

BOOST_AUTO_TEST_CASE(raising_and_lifting_twice_changes_nothing) {
  auto other = connect();
  const auto number = raise(zk());
  BOOST_TEST(raise(other) == number);
  lift(other);
  lift(zk());
  const auto next = raise(zk());
  BOOST_TEST(next > number);
  lift(zk());
}

BOOST_AUTO_TEST_CASE(it_is_raised_in_a_folder_that_is_not_there_yet) {
  auto result = run(barrier(zk(), "/a/b").async_raise(tuple));
  BOOST_TEST(!std::get<0>(result));
  BOOST_TEST(exists("/a/b"));
  BOOST_TEST(!std::get<0>(run(barrier(zk(), "/a/b").async_lift(tuple))));
  leaves("/a");
}

BOOST_AUTO_TEST_CASE(a_lift_while_we_are_cut_off_is_seen) {
  auto far = connect_far();
  raise(zk());
  recorder<> told(executor());
  wait(far, told);
  disconnect(far);
  lift(zk());
  BOOST_TEST(!told.done());
  reconnect();
  expect_through(told);
}

BOOST_AUTO_TEST_CASE(a_lift_is_seen_although_another_raise_stands) {
  auto far = connect_far();
  raise(zk());
  recorder<> told(executor());
  wait(far, told);
  disconnect(far);
  lift(zk());
  raise(zk());
  reconnect();
  expect_through(told);
  recorder<> next(executor());
  wait(far, next);
  lift(zk());
  expect_through(next);
}

BOOST_AUTO_TEST_CASE(a_wait_goes_on_in_the_next_session) {
  auto mortal = connect_far();
  raise(zk());
  recorder<> told(executor());
  wait(mortal, told);
  cluster().expire(mortal.status().session_id);
  BOOST_TEST_REQUIRE(run_until([&] { return mortal.status().incarnation == 2; }));
  settle(mortal);
  BOOST_TEST(!told.done());
  lift(zk());
  expect_through(told);
}

BOOST_AUTO_TEST_CASE(a_raise_whose_reply_is_lost_is_found) {
  auto far = connect_far();
  own().drop_reply(testcluster::op::create2);
  const auto number = raise(far);
  BOOST_TEST(own().drops() == 1u);
  BOOST_TEST(number == get("/b").stat.czxid);
  lift(far);
}

BOOST_AUTO_TEST_CASE(a_raise_that_may_have_been_lifted_is_not_tried_again) {
  auto far = connect_far();
  own().refuse(true);  // so that the caller can not look again before the barrier has been lifted
  own().drop_reply(testcluster::op::create2);
  auto raised = over(far).async_raise(recorded());
  BOOST_TEST_REQUIRE(run_until([&] { return own().drops() == 1; }));
  BOOST_TEST_REQUIRE(run_until([&] { return exists("/b"); }));
  BOOST_TEST(!raised.done());
  lift(zk());
  own().refuse(false);
  BOOST_TEST_REQUIRE(ends_with(raised, errc::outcome_unknown));
  BOOST_TEST(!exists("/b"), "nobody raised it behind the lift");
}

BOOST_AUTO_TEST_CASE(a_lift_whose_reply_is_lost_spares_the_next_raise) {
  auto far = connect_far();
  raise(zk());
  own().drop_reply(testcluster::op::remove);
  auto lifted = over(far).async_lift(recorded());
  BOOST_TEST_REQUIRE(run_until([&] { return own().drops() == 1; }));
  const auto next = raise(zk());
  expect_through(lifted);
  BOOST_TEST(get("/b").stat.czxid == next);
  own().drop_request(testcluster::op::remove);
  lift(far);
  BOOST_TEST(!exists("/b"), "one that never arrived is tried again");
}

BOOST_AUTO_TEST_CASE(the_budget_and_a_cancellation_end_a_wait) {
  raise(zk());
  BOOST_TEST(std::get<0>(run(over(zk()).async_wait_for(100ms, tuple))) == errc::timed_out);
  BOOST_TEST(std::get<0>(run(over(zk()).async_wait_for(-1s, tuple))) == errc::timed_out);
  for (auto type :
       {asio::cancellation_type::total, asio::cancellation_type::partial, asio::cancellation_type::terminal}) {
    recorder<> told(executor());
    wait(zk(), told);
    told.cancel(type);
    BOOST_TEST_REQUIRE(ends_with(told, asio::error::operation_aborted));
  }
  lift(zk());
}

BOOST_AUTO_TEST_CASE(a_path_of_something_else_is_refused) {
  create("/b");
  create("/b/child");
  auto expect_refused = [&] {
    BOOST_TEST(std::get<0>(run(over(zk()).async_raise(tuple))) == errc::foreign_data);
    BOOST_TEST(std::get<0>(run(over(zk()).async_lift(tuple))) == errc::foreign_data);
    BOOST_TEST(std::get<0>(run(over(zk()).async_wait(tuple))) == errc::foreign_data);
  };
  expect_refused();
  remove("/b/child");
  remove("/b");
  create("/b", R"({"zkrecipes":"term","epoch":1})");
  expect_refused();
  remove("/b");
  BOOST_CHECK_THROW(barrier(zk(), "b"), std::invalid_argument);
  BOOST_CHECK_THROW(barrier(zk(), "/"), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(what_curator_or_kazoo_raised_is_raised) {
  create("/b", "127.0.0.1");
  recorder<> told(executor());
  wait(zk(), told);
  remove("/b");
  expect_through(told);
}

BOOST_AUTO_TEST_CASE(each_step_costs_what_it_says) {
  request_log log;
  auto counted = log.connect(*this);
  settle(counted);
  log.clear();
  raise(counted);
  BOOST_TEST(log.all().size() == 1u, "a create");
  log.clear();
  lift(counted);
  BOOST_TEST(log.all().size() == 3u, "a catch-up and a look, sent together, and a remove");
  log.clear();
  BOOST_TEST(!std::get<0>(run(over(counted).async_wait(tuple))));
  BOOST_TEST(log.all().size() == 2u, "a catch-up and a look, sent together");
}

BOOST_AUTO_TEST_SUITE_END()

// The double barrier: its members enter together and leave together, again and again.
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
}

BOOST_AUTO_TEST_CASE(it_can_be_used_again_and_again) {
  for (int round = 1; round <= 5; ++round) {
    auto& first = come(3);
    auto& second = come(3);
    auto& third = come(3);
    for (auto* each : {&first, &second, &third}) expect_in(*each, round);
    leave_all({&first, &second, &third});
  }
}

BOOST_AUTO_TEST_CASE(one_alone_meets_itself) {
  auto& only = come(1);
  expect_in(only, 1);
  leave_all({&only});
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
}

BOOST_AUTO_TEST_CASE(the_sizes_have_to_agree) {
  auto& first = wait(3);
  auto& other = come(2);
  BOOST_TEST_REQUIRE(ends_with(other.entered, errc::size_mismatch));
  BOOST_TEST(other.why.text() == "we came for a round of 2 members, the first at /m for one of 3");
  BOOST_TEST(run_until([&] { return present() == 1; }));
  auto& second = come(3);
  auto& third = come(3);
  for (auto* each : {&first, &second, &third}) expect_in(*each, 1);
  leave_all({&first, &second, &third});
  auto& smaller = come(1);
  expect_in(smaller, 2);
  leave_all({&smaller});
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_named) {
  for (int size : {0, -1, 1001}) BOOST_CHECK_THROW(double_barrier(zk(), "/m", size), std::invalid_argument);
  BOOST_CHECK_THROW(double_barrier(zk(), "m", 2), std::invalid_argument);
  BOOST_CHECK_THROW(double_barrier(zk(), "/m", 2, {.id = ""}), std::invalid_argument);
  create("/m", "somebody else's");
  auto& only = come();
  BOOST_TEST_REQUIRE(ends_with(only.entered, errc::foreign_data));
  BOOST_TEST(only.why.text() == "the data of /m is not of a double barrier");
}

BOOST_AUTO_TEST_CASE(the_last_one_in_asks_twice) {
  auto& first = wait(connect_far());
  own().freeze(true);  // otherwise the first in line, which also sees to the opening, may be quicker
  request_log log;
  auto counted = log.connect(*this);
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
}

BOOST_AUTO_TEST_SUITE_END()

// The double barrier: members give up, die, lose their connection.
BOOST_FIXTURE_TEST_SUITE(double_barrier_faults, double_barrier_case)

BOOST_AUTO_TEST_CASE(a_timed_out_entrant_takes_its_node_away) {
  double_barrier at(zk(), "/m", 2);
  BOOST_TEST(std::get<0>(run(at.async_enter_for(200ms, tuple))) == errc::timed_out);
  BOOST_TEST(present() == 0u, "it is gone when the caller is told");
  auto& first = wait();
  settle(first.zk);
  BOOST_TEST(!first.entered.done(), "nobody is let through with a member that has given up");
  auto& second = come();
  expect_in(first, 1);
  expect_in(second, 1);
  leave_all({&first, &second});
  BOOST_TEST(std::get<0>(run(at.async_enter_for(-1s, tuple))) == errc::timed_out);
}

BOOST_AUTO_TEST_CASE(without_a_connection_the_budget_holds_all_the_same) {
  auto far = connect_far();
  auto& first = wait(far);
  disconnect(far);
  double_barrier at(far, "/m", 2);
  BOOST_TEST(std::get<0>(run(at.async_enter_for(100ms, tuple))) == errc::timed_out);
  reconnect();
  auto& second = come();
  expect_in(first, 1);
  expect_in(second, 1);
  leave_all({&first, &second});
}

BOOST_AUTO_TEST_CASE(who_is_cancelled_leaves_no_node) {
  for (auto type :
       {asio::cancellation_type::total, asio::cancellation_type::partial, asio::cancellation_type::terminal}) {
    auto& first = wait();
    first.entered.cancel(type);
    BOOST_TEST_REQUIRE(ends_with(first.entered, asio::error::operation_aborted));
    BOOST_TEST(run_until([&] { return present() == 0; }));
  }
}

BOOST_AUTO_TEST_CASE(who_died_while_waiting_does_not_count) {
  auto mortal = connect_far();
  auto& first = wait(mortal);
  own().refuse(true);
  own().cut();
  cluster().expire(mortal.status().session_id);
  BOOST_TEST_REQUIRE(run_until([&] { return present() == 0; }));
  auto& second = wait();
  settle(second.zk);
  BOOST_TEST(!second.entered.done());
  reconnect();
  BOOST_TEST_REQUIRE(run_until([&] { return first.entered.done(); }));
  BOOST_TEST(is_loss(first.entered.error()), first.entered.error().message());
  auto& third = come();
  expect_in(second, 1);
  expect_in(third, 1);
  leave_all({&second, &third});
}

BOOST_AUTO_TEST_CASE(who_dies_inside_keeps_nobody) {
  auto mortal = connect_far();
  auto [first, second] = meet(mortal);
  auto lost = first.inside().async_lost(recorded());
  second.leave();
  settle(second.zk);
  BOOST_TEST(!second.left.done());
  cluster().expire(mortal.status().session_id);
  expect_out(second);
  BOOST_TEST_REQUIRE(run_until([&] { return lost.done(); }));
  BOOST_TEST(is_loss(lost.error()), lost.error().message());
  first.leave();
  expect_out(first, lost.error());
}

BOOST_AUTO_TEST_CASE(the_next_round_opens_when_the_last_one_has_died) {
  auto mortal = connect_far();
  auto& first = wait(mortal, 1);
  expect_in(first, 1);
  auto& second = wait(1);
  settle(second.zk);
  BOOST_TEST(!second.entered.done());
  cluster().expire(mortal.status().session_id);
  expect_in(second, 2);
  leave_all({&second});
}

BOOST_AUTO_TEST_CASE(the_first_in_line_may_give_up) {
  auto& round = wait(2);
  auto& other = come(2);
  expect_in(round, 1);
  auto& first = wait();
  auto& second = wait();
  auto& third = wait();
  first.entered.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return present() == 4; }));
  leave_all({&round, &other});
  expect_in(second, 2);
  expect_in(third, 2);
  leave_all({&second, &third});
}

BOOST_AUTO_TEST_CASE(a_lost_reply_makes_no_second_member_and_no_second_opening) {
  auto far = connect_far();
  own().drop_reply(testcluster::op::create2);
  auto& first = wait(far);
  settle(first.zk);
  BOOST_TEST(own().drops() == 1u);
  BOOST_TEST(present() == 1u);
  BOOST_TEST(!first.entered.done());
  own().drop_reply(testcluster::op::multi);
  auto& second = come(far);
  expect_in(first, 1);
  expect_in(second, 1);
  BOOST_TEST(own().drops() == 2u);
  own().drop_reply(testcluster::op::remove);
  leave_all({&first, &second});
  BOOST_TEST(own().drops() == 3u);
}

BOOST_AUTO_TEST_CASE(who_leaves_does_not_wait_longer_than_told) {
  auto [first, second] = meet();
  BOOST_TEST(std::get<0>(run(first.inside().async_leave_for(100ms, tuple))) == errc::timed_out);
  BOOST_TEST(present() == 1u, "but it is out");
  BOOST_TEST(std::get<0>(run(first.inside().async_leave(tuple))) == errc::closed);
  second.leave();
  expect_out(second);
}

BOOST_AUTO_TEST_CASE(a_leave_goes_on_in_the_next_session) {
  auto mortal = connect_far();
  auto [first, second] = meet(mortal);
  first.leave();
  BOOST_TEST_REQUIRE(run_until([&] { return present() == 1; }));
  cluster().expire(mortal.status().session_id);
  BOOST_TEST_REQUIRE(run_until([&] { return mortal.status().incarnation == 2; }));
  settle(mortal);
  BOOST_TEST(!first.left.done());
  second.leave();
  expect_out(first);
  expect_out(second);
}

BOOST_AUTO_TEST_CASE(a_member_whose_node_is_removed_is_told) {
  auto& first = wait(1);
  expect_in(first, 1);
  auto lost = first.inside().async_lost(recorded());
  for (const auto& name : children("/m")) remove("/m/" + name);
  BOOST_TEST_REQUIRE(ends_with(lost, errc::node_removed));
  first.leave();
  expect_out(first, errc::node_removed);
  auto& second = wait();
  for (const auto& name : children("/m")) remove("/m/" + name);
  BOOST_TEST_REQUIRE(ends_with(second.entered, errc::node_removed));
}

BOOST_AUTO_TEST_CASE(an_attendance_that_is_dropped_is_left) {
  auto& first = wait(1);
  expect_in(first, 1);
  first.inside() = attendance();
  BOOST_TEST(run_until([&] { return present() == 0; }));
  BOOST_TEST(first.inside().error() == errc::closed);
}

BOOST_AUTO_TEST_SUITE_END()
