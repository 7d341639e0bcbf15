// An observer's view of an election.
#include "ensemble/campaigner.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(view, line_fixture)

BOOST_AUTO_TEST_CASE(a_path_that_is_missing_or_holds_something_else) {
  election seen(zk(), "/elsewhere", {.id = "observer"});
  BOOST_TEST(std::get<0>(run(seen.async_view(tuple))) == errc::no_node);
  for (const std::string data :
       {"hello", "{}", "[1]", R"({"zkrecipes":"queue"})", R"({"zkrecipes":"term","epoch":1})"}) {
    create("/elsewhere", data);
    BOOST_TEST(std::get<0>(run(seen.async_view(tuple))) == errc::foreign_data, data);
    BOOST_TEST(std::get<0>(run(seen.async_view_change({}, tuple))) == errc::foreign_data, data);
    remove("/elsewhere");
  }
}

BOOST_AUTO_TEST_CASE(a_missing_path_is_waited_for) {
  election seen(zk(), "/elsewhere", {.id = "observer"});
  recorder<election_view> change(executor());
  seen.async_view_change({}, change.token());
  settle(zk());
  settle(zk());
  BOOST_TEST(!change.done());
  create("/elsewhere");
  BOOST_TEST_REQUIRE(run_until([&] { return change.done(); }));
  BOOST_TEST(!change.error(), change.error().message());
  BOOST_TEST(change.result<0>().path == "/elsewhere");
  BOOST_TEST(change.result<0>().leader.empty());
  remove("/elsewhere");
}

BOOST_AUTO_TEST_CASE(the_fingerprint_changes_with_the_view_and_only_then) {
  election seen(zk(), "/e", {.id = "observer"});
  const auto empty = std::get<1>(run(seen.async_view(tuple)));
  BOOST_TEST(empty.fingerprint == std::get<1>(run(seen.async_view(tuple))).fingerprint);
  BOOST_TEST(!empty.fingerprint.empty());

  recorder<election_view> first(executor());
  seen.async_view_change(empty, first.token());
  settle(zk());
  settle(zk());
  BOOST_TEST(!first.done());
  auto& leader = join();
  BOOST_TEST_REQUIRE(run_until([&] { return first.done(); }));
  BOOST_TEST(first.result<0>().leader == "c0");
  BOOST_TEST(first.result<0>().fingerprint == std::get<1>(run(seen.async_view(tuple))).fingerprint);

  recorder<election_view> second(executor());
  seen.async_view_change(first.result<0>(), second.token());
  auto& next = join();
  BOOST_TEST_REQUIRE(run_until([&] { return second.done(); }));
  BOOST_TEST(second.result<0>().candidates.size() == 2u);

  recorder<election_view> third(executor());
  seen.async_view_change(second.result<0>(), third.token());
  settle(zk());
  release(leader);
  BOOST_TEST_REQUIRE(run_until([&] { return third.done() && next.leads(); }));
  BOOST_TEST(third.result<0>().leader == "c1");
  BOOST_TEST(third.result<0>().leader_token == next.held().token());
  release(next);
}

BOOST_AUTO_TEST_CASE(candidates_are_seen_in_order_with_their_sessions) {
  auto& leader = join();
  auto& waiter = join();
  catch_up(leader.zk);
  const auto seen = std::get<1>(run(leader.contest.async_view(tuple)));
  BOOST_TEST_REQUIRE(seen.candidates.size() == 2u);
  BOOST_TEST(seen.candidates[0].id == "c0");
  BOOST_TEST(seen.candidates[0].position == 0);
  BOOST_TEST(seen.candidates[0].session_id == leader.zk.status().session_id);
  BOOST_TEST(seen.candidates[0].token == leader.held().token());
  BOOST_TEST("/e/" + seen.candidates[0].node == leader.held().path());
  BOOST_TEST(seen.candidates[1].session_id == waiter.zk.status().session_id);
  BOOST_TEST(seen.epoch == 0);
  BOOST_TEST(!seen.hand_over.has_value());
  waiter.result.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return in_line() == 1; }));
  release(leader);
}

BOOST_AUTO_TEST_CASE(waiting_for_a_change_can_be_cancelled) {
  election seen(zk(), "/e", {.id = "observer"});
  const auto present = std::get<1>(run(seen.async_view(tuple)));
  for (auto type : {asio::cancellation_type::total, asio::cancellation_type::terminal}) {
    recorder<election_view> change(executor());
    seen.async_view_change(present, change.token());
    settle(zk());
    change.cancel(type);
    BOOST_TEST_REQUIRE(run_until([&] { return change.done(); }));
    BOOST_TEST(change.error() == asio::error::operation_aborted);
  }
}

BOOST_AUTO_TEST_CASE(a_change_is_seen_across_a_lost_connection) {
  auto far = connect_far();
  election seen(far, "/e", {.id = "observer"});
  recorder<election_view> change(executor());
  seen.async_view_change(std::get<1>(run(seen.async_view(tuple))), change.token());
  settle(far);
  disconnect(far);
  auto& leader = join();
  BOOST_TEST(!change.done());
  reconnect();
  BOOST_TEST_REQUIRE(run_until([&] { return change.done(); }));
  BOOST_TEST(change.result<0>().leader == "c0");
  release(leader);
}

// Only the first of the candidates that were seen is read again.
BOOST_AUTO_TEST_CASE(a_change_costs_no_more_with_many_candidates) {
  auto own = connect();
  election seen(own, "/e", {.id = "observer"});
  std::vector<campaigner*> all;
  for (int i = 0; i < 6; ++i) all.push_back(&join());
  BOOST_TEST_REQUIRE(run_until([&] { return in_line() == 6; }));
  catch_up(own);
  recorder<election_view> change(executor());
  seen.async_view_change(std::get<1>(run(seen.async_view(tuple))), change.token());
  settle(own);
  settle(own);
  const auto before = requests_of(own);
  release(*all[0]);
  BOOST_TEST_REQUIRE(run_until([&] { return change.done(); }));
  BOOST_TEST(change.result<0>().candidates.size() == 5u);
  BOOST_TEST(change.result<0>().leader == "c1");
  // Data and children of the path, the first candidate, a look whether it has moved. The first candidate went in
  // between or the list was read twice at most; the watches that are left are removed.
  BOOST_TEST(requests_of(own) - before <= 2 * 4 + 3);
  for (std::size_t i = 2; i < all.size(); ++i) all[i]->result.cancel();
  release(*all[1]);
}

BOOST_AUTO_TEST_CASE(a_request_to_a_leader_that_is_known_is_seen) {
  auto& leader = join();
  catch_up(zk());
  election seen(zk(), "/e", {.id = "observer"});
  const auto present = std::get<1>(run(seen.async_view(tuple)));
  BOOST_TEST(!present.resignation_asked.has_value());
  recorder<election_view> change(executor());
  seen.async_view_change(present, change.token());
  settle(zk());
  BOOST_TEST(!std::get<0>(run(seen.async_request_resignation(tuple))));
  BOOST_TEST_REQUIRE(run_until([&] { return change.done(); }));
  BOOST_TEST(change.result<0>().resignation_asked.has_value());
  release(leader);
}

BOOST_AUTO_TEST_CASE(an_election_that_goes_is_told) {
  create("/gone");
  election seen(zk(), "/gone", {.id = "observer"});
  recorder<election_view> change(executor());
  seen.async_view_change(std::get<1>(run(seen.async_view(tuple))), change.token());
  settle(zk());
  settle(zk());
  BOOST_TEST(!change.done());
  remove("/gone");
  BOOST_TEST_REQUIRE(run_until([&] { return change.done(); }));
  BOOST_TEST(change.error() == errc::no_node);
}

BOOST_AUTO_TEST_SUITE_END()
