// Two-phase commit: replies get lost, parties die and come back, coordinators take over.
#include "ensemble/commit_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(two_phase_commit_faults, commit_case)

BOOST_AUTO_TEST_CASE(a_begin_whose_reply_is_lost_is_found) {
  auto far = connect_far();
  begin("before", {"a"});
  own().drop_reply(testcluster::op::multi);
  auto [error] = run(over(far).async_begin("x", {"a"}, "", tuple));
  BOOST_TEST(!error, error.message());
  BOOST_TEST(own().drops() == 1u);
  own().drop_request(testcluster::op::multi);
  auto [unsure] = run(over(far).async_begin("y", {"a"}, "", tuple));
  BOOST_TEST(unsure == errc::outcome_unknown);
  BOOST_TEST(!exists("/t/y"), "it never arrived");
  finish();
}

BOOST_AUTO_TEST_CASE(a_vote_or_a_decision_whose_reply_is_lost_counts_once) {
  auto far = connect_far();
  begin("x", {"a", "b"});
  for (bool executed : {true, false}) {
    executed ? own().drop_reply(testcluster::op::multi) : own().drop_request(testcluster::op::multi);
    BOOST_TEST(vote(far, "x", executed ? "a" : "b", ballot::yes) == decision::pending);
  }
  own().drop_reply(testcluster::op::multi);
  BOOST_TEST(decide(far, "x").decision == decision::committed);
  BOOST_TEST(get("/t/x").stat.version == 1, "written once");
  begin("y", {"a"});
  own().drop_reply(testcluster::op::multi);
  BOOST_TEST(vote(far, "y", "a", ballot::no) == decision::aborted);
  BOOST_TEST(get("/t/y").stat.version == 1);
  BOOST_TEST(own().drops() == 4u);
  finish();
}

BOOST_AUTO_TEST_CASE(an_outcome_is_learnt_after_a_restart) {
  begin("x", {"a"});
  {
    auto before = connect();
    vote(before, "x", "a", ballot::yes);
  }
  decide(zk(), "x");
  auto after = connect();
  auto [error, outcome] = run(over(after).async_outcome("x", tuple));
  BOOST_TEST(!error);
  BOOST_TEST(outcome.decision == decision::committed);
  finish();
}

BOOST_AUTO_TEST_CASE(waits_go_on_in_the_next_session) {
  auto mortal = connect_far();
  begin("x", {"a", "b"});
  recorder<commit_outcome> learnt(executor()), decided(executor());
  over(mortal).async_outcome("x", learnt.token());
  over(mortal).async_decide("x", 1h, decided.token());
  settle(mortal);
  cluster().expire(mortal.status().session_id);
  BOOST_TEST_REQUIRE(run_until([&] { return mortal.status().incarnation == 2; }));
  vote("x", "a", ballot::yes);
  settle(mortal);
  BOOST_TEST(!learnt.done());
  vote("x", "b", ballot::yes);
  BOOST_TEST_REQUIRE(run_until([&] { return learnt.done() && decided.done(); }));
  BOOST_TEST(learnt.result<0>().decision == decision::committed);
  BOOST_TEST(decided.result<0>().decision == decision::committed);
  finish();
}

BOOST_AUTO_TEST_CASE(two_coordinators_write_one_decision) {
  begin("x", {"a"});
  auto far = connect_far();
  // The slow coordinator has seen that the vote is missing, and sleeps until its time is up.
  recorder<commit_outcome> slow(executor());
  over(far).async_decide("x", 300ms, slow.token());
  settle(far);
  settle(far);
  own().freeze(true);
  const auto its_end = lease_clock::now() + 300ms;
  const auto asked = far.counters().requests;
  vote("x", "a", ballot::yes);
  BOOST_TEST(decide(zk(), "x").decision == decision::committed);
  // It has not heard of that decision when it writes that the time is up.
  BOOST_TEST_REQUIRE(run_until([&] { return lease_clock::now() >= its_end && far.counters().requests > asked; }));
  BOOST_TEST(!slow.done());
  own().freeze(false);
  BOOST_TEST_REQUIRE(run_until([&] { return slow.done(); }));
  BOOST_TEST(slow.result<0>().decision == decision::committed, "it gets what was decided");
  BOOST_TEST(get("/t/x").stat.version == 1);
  finish();
}

BOOST_AUTO_TEST_CASE(an_elected_coordinator_finishes_what_another_began) {
  auto first_zk = connect_far();
  auto second_zk = connect();
  recorder<> first(executor()), second(executor());
  over(first_zk).async_coordinate({.id = "first", .vote_timeout = 1h}, first.token());
  BOOST_TEST_REQUIRE(run_until([&] { return exists("/t/_coordinator") && children("/t/_coordinator").size() == 1; }));
  over(second_zk).async_coordinate({.id = "second", .vote_timeout = 1h}, second.token());
  BOOST_TEST_REQUIRE(run_until([&] { return children("/t/_coordinator").size() == 2; }));
  begin("one", {"a"});
  vote("one", "a", ballot::yes);
  BOOST_TEST(outcome_of("one").decision == decision::committed);
  begin("two", {"a", "b"});
  vote("two", "a", ballot::yes);
  settle(first_zk);
  own().refuse(true);
  own().cut();
  cluster().expire(first_zk.status().session_id);
  vote("two", "b", ballot::yes);
  BOOST_TEST(outcome_of("two").decision == decision::committed);
  begin("three", {"a"});
  vote("three", "a", ballot::yes);
  BOOST_TEST(outcome_of("three").decision == decision::committed, "the second coordinates alone");
  reconnect();
  BOOST_TEST_REQUIRE(run_until([&] { return children("/t/_coordinator").size() == 2; }));
  BOOST_TEST(!first.done(), "it stands for election again");
  first.cancel();
  second.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return first.done() && second.done(); }));
  BOOST_TEST(first.error() == asio::error::operation_aborted);
  BOOST_TEST(run_until([&] { return children("/t/_coordinator").empty(); }));
  finish();
}

BOOST_AUTO_TEST_CASE(a_decision_that_is_refused_is_told_and_tried_again) {
  begin("x", {"a"});
  vote("x", "a", ballot::yes);
  const acl all_but_write{{perm_read | perm_create | perm_delete | perm_admin, "world", "anyone"}};
  forbid_writing("/t/x", all_but_write);
  auto leader = connect();
  recorder<> coordinating(executor());
  std::vector<std::pair<std::string, error_code>> told;
  commit_coordinator_options options{.vote_timeout = 1h};
  options.on_refused = [&](const std::string& id, error_code why) { told.emplace_back(id, why); };
  over(leader).async_coordinate(options, coordinating.token());
  BOOST_TEST_REQUIRE(run_until([&] { return told.size() == 2; }));
  BOOST_TEST(told[0].first == "x");
  BOOST_TEST(told[0].second == errc::no_auth);
  BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_set_acl("/t/x", open_acl(), any_version, tuple))));
  BOOST_TEST(outcome_of("x").decision == decision::committed);
  coordinating.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return coordinating.done(); }));
  BOOST_TEST(run_until([&] { return children("/t/_coordinator").empty(); }));
  finish();
}

BOOST_AUTO_TEST_CASE(a_coordinator_is_patient_and_then_aborts_and_tidies_up) {
  begin("x", {"a"});
  auto leader = connect();
  recorder<> coordinating(executor());
  recorder<commit_outcome> learnt(executor());
  here().async_outcome("x", learnt.token());
  over(leader).async_coordinate({.vote_timeout = 200ms, .retention = 300ms}, coordinating.token());
  BOOST_TEST_REQUIRE(run_until([&] { return learnt.done(); }));
  BOOST_TEST(!learnt.error());
  BOOST_TEST(learnt.result<0>().decision == decision::aborted);
  BOOST_TEST(run_until([&] { return !exists("/t/x"); }), "cleaned up by age");
  coordinating.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return coordinating.done(); }));
  BOOST_TEST(run_until([&] { return children("/t/_coordinator").empty(); }));
  finish();
}

BOOST_AUTO_TEST_SUITE_END()
