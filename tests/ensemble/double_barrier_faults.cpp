// The double barrier: members give up, die, lose their connection.
#include "ensemble/double_barrier_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

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
  finish();
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
  finish();
}

BOOST_AUTO_TEST_CASE(who_is_cancelled_leaves_no_node) {
  for (auto type :
       {asio::cancellation_type::total, asio::cancellation_type::partial, asio::cancellation_type::terminal}) {
    auto& first = wait();
    first.entered.cancel(type);
    BOOST_TEST_REQUIRE(run_until([&] { return first.entered.done(); }));
    BOOST_TEST(first.entered.error() == asio::error::operation_aborted);
    BOOST_TEST(run_until([&] { return present() == 0; }));
  }
  finish();
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
  finish();
}

BOOST_AUTO_TEST_CASE(who_dies_inside_keeps_nobody) {
  auto mortal = connect_far();
  auto [first, second] = meet(mortal);
  recorder<> lost(executor());
  first.inside().async_lost(lost.token());
  second.leave();
  settle(second.zk);
  BOOST_TEST(!second.left.done());
  cluster().expire(mortal.status().session_id);
  expect_out(second);
  BOOST_TEST_REQUIRE(run_until([&] { return lost.done(); }));
  BOOST_TEST(is_loss(lost.error()), lost.error().message());
  first.leave();
  expect_out(first, lost.error());
  finish();
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
  finish();
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
  finish();
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
  finish();
}

BOOST_AUTO_TEST_CASE(who_leaves_does_not_wait_longer_than_told) {
  auto [first, second] = meet();
  BOOST_TEST(std::get<0>(run(first.inside().async_leave_for(100ms, tuple))) == errc::timed_out);
  BOOST_TEST(present() == 1u, "but it is out");
  BOOST_TEST(std::get<0>(run(first.inside().async_leave(tuple))) == errc::closed);
  second.leave();
  expect_out(second);
  finish();
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
  finish();
}

BOOST_AUTO_TEST_CASE(a_member_whose_node_is_removed_is_told) {
  auto& first = wait(1);
  expect_in(first, 1);
  recorder<> lost(executor());
  first.inside().async_lost(lost.token());
  for (const auto& name : children("/m")) remove("/m/" + name);
  BOOST_TEST_REQUIRE(run_until([&] { return lost.done(); }));
  BOOST_TEST(lost.error() == errc::node_removed);
  first.leave();
  expect_out(first, errc::node_removed);
  auto& second = wait();
  for (const auto& name : children("/m")) remove("/m/" + name);
  BOOST_TEST_REQUIRE(run_until([&] { return second.entered.done(); }));
  BOOST_TEST(second.entered.error() == errc::node_removed);
  finish();
}

BOOST_AUTO_TEST_CASE(an_attendance_that_is_dropped_is_left) {
  auto& first = wait(1);
  expect_in(first, 1);
  first.inside() = attendance();
  BOOST_TEST(run_until([&] { return present() == 0; }));
  BOOST_TEST(first.inside().error() == errc::closed);
  finish();
}

BOOST_AUTO_TEST_SUITE_END()
