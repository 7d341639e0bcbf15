// The barrier: raised, lifted, waited for; no lift is lost.
#include <zkrecipes/barrier.hpp>

#include "ensemble/ensemble_case.hpp"
#include "ensemble/request_log.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct barrier_case : ensemble_case {
  barrier over(session& which) { return barrier(which, "/b"); }

  std::int64_t raise(session& which) {
    auto [error, number] = run(over(which).async_raise(tuple));
    BOOST_TEST_REQUIRE(!error, error.message());
    return number;
  }
  void lift(session& which) {
    auto [error] = run(over(which).async_lift(tuple));
    BOOST_TEST_REQUIRE(!error, error.message());
  }
  /// Starts a wait, and checks that the barrier as it stands holds it back.
  void wait(session& which, recorder<>& told) {
    over(which).async_wait(told.token());
    settle(which);
    settle(which);  // the wait's own requests were sent before this
    BOOST_TEST_REQUIRE(!told.done());
  }
  void expect_through(recorder<>& told) {
    BOOST_TEST_REQUIRE(run_until([&] { return told.done(); }));
    BOOST_TEST(!told.error(), told.error().message());
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
  recorder<std::int64_t> raised(executor());
  over(far).async_raise(raised.token());
  BOOST_TEST_REQUIRE(run_until([&] { return own().drops() == 1; }));
  BOOST_TEST_REQUIRE(run_until([&] { return exists("/b"); }));
  BOOST_TEST(!raised.done());
  lift(zk());
  own().refuse(false);
  BOOST_TEST_REQUIRE(run_until([&] { return raised.done(); }));
  BOOST_TEST(raised.error() == errc::outcome_unknown, raised.error().message());
  BOOST_TEST(!exists("/b"), "nobody raised it behind the lift");
}

BOOST_AUTO_TEST_CASE(a_lift_whose_reply_is_lost_spares_the_next_raise) {
  auto far = connect_far();
  raise(zk());
  own().drop_reply(testcluster::op::remove);
  recorder<> lifted(executor());
  over(far).async_lift(lifted.token());
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
    BOOST_TEST_REQUIRE(run_until([&] { return told.done(); }));
    BOOST_TEST(told.error() == asio::error::operation_aborted);
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
  auto counted = connect(log.noted(options()));
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
