// The double barrier: its members enter together and leave together, again and again.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/double_barrier.hpp>

#include "ensemble/ensemble_case.hpp"
#include "ensemble/request_log.hpp"

namespace zkrecipes::test {

// Members of one double barrier at `/m`.

/// One member with a session of its own, on its way in.
struct guest {
  guest(session over, asio::any_io_executor executor, int size)
      : zk(std::move(over)), at(zk, "/m", size), entered(executor), left(executor) {}

  bool is_in() { return entered.done() && !entered.error(); }
  attendance& inside() { return entered.result<0>(); }
  void leave() { inside().async_leave(left.token()); }

  session zk;
  double_barrier at;
  diagnostic why;
  recorder<attendance> entered;
  recorder<> left;
};

class double_barrier_case : public ensemble_case {
 public:
  void teardown() {
    guests_.clear();
    ensemble_case::teardown();
  }

  guest& come(session over, int size = 2) {
    auto& who = *guests_.emplace_back(std::make_unique<guest>(std::move(over), executor(), size));
    who.at.async_enter(who.why, who.entered.token());
    return who;
  }
  guest& come(int size = 2) { return come(connect(), size); }
  /// Comes, and waits until its node stands in line.
  guest& wait(session over, int size = 2) {
    const auto before = present();
    auto& who = come(std::move(over), size);
    BOOST_TEST_REQUIRE(run_until([&] { return present() == before + 1; }));
    return who;
  }
  guest& wait(int size = 2) { return wait(connect(), size); }

  std::size_t present() { return exists("/m") ? children("/m").size() : 0; }

  void expect_in(guest& who, std::int64_t round) {
    BOOST_TEST_REQUIRE(run_until([&] { return who.entered.done(); }));
    BOOST_TEST_REQUIRE(!who.entered.error(), who.entered.error().message());
    BOOST_TEST(who.inside().round() == round);
    BOOST_TEST(!who.inside().error());
  }
  /// Two members that have entered the first round together; the first one uses this session.
  std::pair<guest&, guest&> meet(session over) {
    auto& first = wait(std::move(over));
    auto& second = come();
    expect_in(first, 1);
    expect_in(second, 1);
    return {first, second};
  }
  std::pair<guest&, guest&> meet() { return meet(connect()); }
  void expect_out(guest& who, error_code with = {}) {
    BOOST_TEST_REQUIRE(run_until([&] { return who.left.done(); }));
    BOOST_TEST(who.left.error() == with, who.left.error().message());
    BOOST_TEST(who.left.calls() == 1);
  }
  void leave_all(std::vector<guest*> all) {
    for (auto* each : all) each->leave();
    for (auto* each : all) expect_out(*each);
  }
  /// Checks that no member is left, and that the path holds nothing but the record.
  void finish() {
    BOOST_TEST(run_until([&] { return present() == 0; }));
    remove("/m");
  }

 private:
  std::vector<std::unique_ptr<guest>> guests_;
};

}  // namespace zkrecipes::test

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
  auto counted = connect(log.noted(options()));
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
