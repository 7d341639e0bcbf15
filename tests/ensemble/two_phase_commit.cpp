// Two-phase commit: begun, voted on, decided, looked at, cleaned up.
#include "ensemble/commit_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(two_phase_commit_votes, commit_case)

BOOST_AUTO_TEST_CASE(all_say_yes_and_it_is_committed) {
  begin("order-1", {"stock", "payment"}, "two books");
  recorder<commit_outcome> learnt(executor()), decided(executor());
  here().async_outcome("order-1", learnt.token());
  here().async_decide("order-1", 1h, decided.token());
  BOOST_TEST(vote("order-1", "stock", ballot::yes) == decision::pending);
  settle(zk());
  BOOST_TEST(!learnt.done());
  BOOST_TEST(undecided() == names{"order-1"}, boost::test_tools::per_element());
  BOOST_TEST(vote("order-1", "payment", ballot::yes, "card accepted") == decision::pending);
  BOOST_TEST_REQUIRE(run_until([&] { return learnt.done() && decided.done(); }));
  BOOST_TEST(learnt.result<0>().decision == decision::committed);
  BOOST_TEST(decided.result<0>().decision == decision::committed);
  auto [error, state] = run(here().async_state("order-1", tuple));
  BOOST_TEST(!error);
  BOOST_TEST(state.data == "two books");
  BOOST_TEST(state.participants == (names{"stock", "payment"}), boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(state.votes.size() == 2u);
  BOOST_TEST(state.votes[1].participant == "payment");
  BOOST_TEST(state.votes[1].ballot == ballot::yes);
  BOOST_TEST(state.votes[1].reason == "card accepted");
  BOOST_TEST(state.outcome.decision == decision::committed);
  const auto begun = std::chrono::duration_cast<std::chrono::milliseconds>(state.begun.time_since_epoch());
  BOOST_TEST(begun.count() == get("/t/order-1").stat.ctime);
  finish();
}

BOOST_AUTO_TEST_CASE(one_says_no_and_all_learn_why) {
  begin("order-1", {"stock", "payment"});
  BOOST_TEST(vote("order-1", "stock", ballot::yes) == decision::pending);
  BOOST_TEST(vote("order-1", "payment", ballot::no, "card refused") == decision::aborted);
  const auto outcome = outcome_of("order-1");
  BOOST_TEST(outcome.decision == decision::aborted);
  BOOST_TEST(outcome.reason == "payment: card refused");
  BOOST_TEST(decide(zk(), "order-1").reason == outcome.reason, "the coordinator finds it decided");
  finish();
}

BOOST_AUTO_TEST_CASE(who_does_not_vote_in_time_aborts) {
  begin("order-1", {"a", "b", "c"});
  vote("order-1", "b", ballot::yes);
  const auto outcome = decide(zk(), "order-1", 100ms);
  BOOST_TEST(outcome.decision == decision::aborted);
  BOOST_TEST(outcome.reason == "no vote in time: a c");
  BOOST_TEST(vote("order-1", "a", ballot::yes) == decision::aborted, "a late vote gets the decision");
  BOOST_TEST(!exists("/t/order-1/vote-a"), "and does not count");
  finish();
}

BOOST_AUTO_TEST_CASE(a_vote_is_given_once) {
  begin("order-1", {"a", "b"});
  vote("order-1", "a", ballot::yes, "first");
  BOOST_TEST(vote("order-1", "a", ballot::yes, "again, after a restart") == decision::pending);
  BOOST_TEST(std::get<0>(run(here().async_vote("order-1", "a", ballot::no, "", tuple))) == errc::node_exists);
  BOOST_TEST(std::get<0>(run(here().async_vote("order-1", "c", ballot::yes, "", tuple))) == errc::bad_arguments);
  BOOST_TEST(std::get<0>(run(here().async_vote("order-2", "a", ballot::yes, "", tuple))) == errc::no_node);
  auto [error, state] = run(here().async_state("order-1", tuple));
  BOOST_TEST_REQUIRE(state.votes.size() == 1u);
  BOOST_TEST(state.votes[0].reason == "first");
  vote("order-1", "b", ballot::no);
  BOOST_TEST(vote("order-1", "a", ballot::no) == decision::aborted, "whatever it says now");
  finish();
}

BOOST_AUTO_TEST_CASE(an_id_is_used_once) {
  begin("order-1", {"a"});
  BOOST_TEST(std::get<0>(run(here().async_begin("order-1", {"a"}, "", tuple))) == errc::node_exists);
  finish();
  BOOST_TEST(std::get<0>(run(here().async_outcome("order-1", tuple))) == errc::no_node);
  BOOST_TEST(std::get<0>(run(here().async_decide("order-1", 0s, tuple))) == errc::no_node);
  BOOST_TEST(std::get<0>(run(here().async_state("order-1", tuple))) == errc::no_node);
  BOOST_TEST(undecided().empty());
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused) {
  BOOST_CHECK_THROW(two_phase_commit(zk(), "t"), std::invalid_argument);
  BOOST_CHECK_THROW(two_phase_commit(zk(), "/"), std::invalid_argument);
  auto refuses = [&](const std::string& id, names participants, const std::string& data = {}) {
    auto [error] = run(here().async_begin(id, std::move(participants), data, tuple));
    return error == errc::bad_arguments;
  };
  for (const std::string id : {"", "a/b", "_coordinator", ".", "..", "a\nb"}) BOOST_TEST(refuses(id, {"a"}), id);
  BOOST_TEST(refuses("x", {}), "nobody");
  BOOST_TEST(refuses("x", {"a", "a"}), "twice the same");
  BOOST_TEST(refuses("x", {"a/b"}));
  BOOST_TEST(refuses("x", {"a"}, std::string(1'000'000, 'x')));
  BOOST_TEST(refuses("x", names(1001, "a")));
  BOOST_TEST(std::get<0>(run(here().async_vote("x", "a/b", ballot::yes, "", tuple))) == errc::bad_arguments);
  const std::string long_reason(10'001, 'x');
  BOOST_TEST(std::get<0>(run(here().async_vote("x", "a", ballot::yes, long_reason, tuple))) == errc::bad_arguments);
  BOOST_TEST(std::get<0>(run(here().async_outcome("a/b", tuple))) == errc::bad_arguments);
  BOOST_TEST(std::get<0>(run(here().async_clean_up(-1ms, tuple))) == errc::bad_arguments);
  auto coordinate = [&](commit_coordinator_options with) { run(here().async_coordinate(with, tuple)); };
  BOOST_CHECK_THROW(coordinate({.id = ""}), std::invalid_argument);
  BOOST_CHECK_THROW(coordinate({.vote_timeout = -1ms}), std::invalid_argument);
  BOOST_CHECK_THROW(coordinate({.retention = -1ms}), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(the_largest_that_is_taken_can_be_decided) {
  names many;
  for (int i = 0; i < 1000; ++i) many.push_back("participant-" + std::to_string(i));
  std::string data(700'000, 'x');
  data[0] = '\xff';
  data[1] = '\0';
  begin("large", many, data);
  const std::string reason(10'000, '\x01');
  BOOST_TEST(vote("large", "participant-7", ballot::no, reason) == decision::aborted);
  begin("many", many, std::string(600'000, 'x'));
  for (const auto& each : many) vote("many", each, ballot::yes);
  BOOST_TEST(decide(zk(), "many").decision == decision::committed);
  auto [error, state] = run(here().async_state("large", tuple));
  BOOST_TEST((state.data == data));
  finish();
}

BOOST_AUTO_TEST_CASE(what_is_not_ours_is_refused_or_left_alone) {
  create("/t", R"({"zkrecipes":"term","epoch":1})");
  BOOST_TEST(std::get<0>(run(here().async_begin("x", {"a"}, "", tuple))) == errc::foreign_data);
  BOOST_TEST(std::get<0>(run(here().async_clean_up(0ms, tuple))) == errc::foreign_data);
  remove("/t");
  begin("x", {"a"});
  create("/t/note", "not JSON");
  create("/t/list", "[1]");
  BOOST_TEST(undecided() == names{"x"}, boost::test_tools::per_element());
  BOOST_TEST(std::get<0>(run(here().async_outcome("note", tuple))) == errc::foreign_data);
  BOOST_TEST(std::get<0>(run(here().async_vote("list", "a", ballot::yes, "", tuple))) == errc::foreign_data);
  decide(zk(), "x");
  create("/t/x/comment");
  BOOST_TEST(clean_up() == 0u, "with a foreign child it stays");
  remove("/t/x/comment");
  BOOST_TEST(clean_up() == 1u);
  for (const auto* each : {"/t/note", "/t/list"}) {
    BOOST_TEST(exists(each));
    remove(each);
  }
  finish();
}

BOOST_AUTO_TEST_CASE(what_is_old_is_cleaned_up_and_nothing_else) {
  begin("given-up", {"a", "b"});
  vote("given-up", "a", ballot::yes);
  begin("decided", {"a"});
  decide(zk(), "decided");
  BOOST_TEST(clean_up(1h) == 0u);
  BOOST_TEST(undecided() == names{"given-up"}, boost::test_tools::per_element());
  BOOST_TEST(clean_up(0ms) == 1u, "the decided one");
  BOOST_TEST(!exists("/t/decided"));
  const auto outcome = outcome_of("given-up");
  BOOST_TEST(outcome.decision == decision::aborted, "its parties can still learn that it was given up");
  BOOST_TEST(outcome.reason == "given up");
  BOOST_TEST(clean_up(0ms) == 1u);
  BOOST_TEST(!exists("/t/given-up"));
  remove_path();
  BOOST_TEST(clean_up(0ms) == 0u, "no path, nothing old");
}

BOOST_AUTO_TEST_CASE(a_wait_ends_with_its_budget_or_by_cancellation) {
  begin("x", {"a"});
  BOOST_TEST(std::get<0>(run(here().async_outcome_for("x", 100ms, tuple))) == errc::timed_out);
  recorder<commit_outcome> learnt(executor()), decided(executor());
  here().async_outcome("x", learnt.token());
  here().async_decide("x", 1h, decided.token());
  settle(zk());
  learnt.cancel();
  decided.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return learnt.done() && decided.done(); }));
  BOOST_TEST(learnt.error() == asio::error::operation_aborted);
  BOOST_TEST(decided.error() == asio::error::operation_aborted);
  BOOST_TEST(undecided() == names{"x"}, boost::test_tools::per_element());
  finish();
}

BOOST_AUTO_TEST_SUITE_END()
