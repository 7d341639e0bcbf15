// Waiting in a line: what is watched, which looks are needed, what ends the waiting.
#include "line/waiter.hpp"

#include "unit/in_line.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(lines, in_line)

BOOST_AUTO_TEST_CASE(a_free_line_costs_one_round_trip) {
  BOOST_TEST(pending().size() == 2u);
  create(7);
  list({own});
  BOOST_TEST_REQUIRE(campaign.done());
  auto& held = campaign.result<0>();
  BOOST_TEST(!held.error());
  BOOST_TEST(held.token() == 107);
  BOOST_TEST(held.path() == "/e/" + own);
  BOOST_TEST((held.valid_until() == zk.valid_until()));
  CHECK_PENDING("get /e/" + own);  // its own node is watched
}

BOOST_AUTO_TEST_CASE(who_is_ahead_is_watched_and_its_going_is_enough) {
  create(7);
  list({own, "x-latch-0000000005", "foreign"});
  own_node_is_there();
  CHECK_PENDING("get /e/x-latch-0000000005");
  answer();
  BOOST_TEST(!campaign.done());
  fire(backend::change::deleted, "/e/x-latch-0000000005");
  BOOST_TEST(campaign.done(), "without another look");
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(only_the_nearest_ahead_is_watched) {
  create(7);
  list({"x-latch-0000000006", own, "x-latch-0000000005", "x-latch-0000000008"});
  own_node_is_there();
  CHECK_PENDING("get /e/x-latch-0000000006");
  answer();
  fire(backend::change::deleted, "/e/x-latch-0000000006");
  CHECK_PENDING("children /e");
  list({own, "x-latch-0000000005"});
  CHECK_PENDING("get /e/x-latch-0000000005");
  fail(errc::no_node);  // gone in between
  BOOST_TEST(campaign.done());
}

BOOST_AUTO_TEST_CASE(a_loss_that_is_noted_while_we_look_ahead_ends_the_waiting) {
  create(7);
  list({own, "x-latch-0000000005"});
  CHECK_PENDING("get /e/" + own, "get /e/x-latch-0000000005");
  fail(errc::no_node);  // an operator has removed our node
  BOOST_TEST(!campaign.done());
  answer();
  BOOST_TEST_REQUIRE(ended_with(campaign, errc::node_removed));
}

BOOST_AUTO_TEST_CASE(one_whose_deletion_was_told_before_its_turn_came_does_not_get_it) {
  create(7);
  list({own, "x-latch-0000000005"});
  own_node_is_there();
  answer();
  fire(backend::change::deleted, "/e/" + own);
  fire(backend::change::deleted, "/e/x-latch-0000000005");
  CHECK_PENDING("get /e/" + own);
  BOOST_TEST(!campaign.done());
  fail(errc::no_node);
  BOOST_TEST_REQUIRE(ended_with(campaign, errc::node_removed));
}

BOOST_AUTO_TEST_CASE(a_waiter_without_a_connection_is_told_when_its_lease_ends) {
  create(7);
  list({own, "x-latch-0000000005"});
  own_node_is_there();
  answer();
  const auto until = zk.valid_until();
  lose();
  advance(until - now() - 1ns);
  BOOST_TEST(!campaign.done());
  advance(1ns);
  BOOST_TEST_REQUIRE(ended_with(campaign, errc::lease_lapsed));
}

BOOST_AUTO_TEST_CASE(so_is_one_whose_look_is_not_answered) {
  create(7);
  list({own, "x-latch-0000000005"});
  own_node_is_there();
  CHECK_PENDING("get /e/x-latch-0000000005");
  advance(zk.valid_until() - now());
  BOOST_TEST_REQUIRE(ended_with(campaign, errc::lease_lapsed));
}

BOOST_AUTO_TEST_CASE(a_server_that_is_too_busy_to_create_our_node_is_asked_again) {
  const auto asked = pending();
  throttle();
  list({"x-latch-0000000005"});
  CHECK_PENDING();
  BOOST_TEST(!campaign.done());
  advance(75ms);
  BOOST_TEST(pending() == asked, boost::test_tools::per_element());
  create(7);
  list({own});
  BOOST_TEST_REQUIRE(succeeded(campaign));
}

BOOST_AUTO_TEST_CASE(one_that_is_too_busy_to_list_or_to_look_ahead_too) {
  create(7);
  throttle();
  own_node_is_there();
  CHECK_PENDING("children /e");
  throttle();
  CHECK_PENDING();
  advance(75ms);
  list({own, "x-latch-0000000005"});
  CHECK_PENDING("get /e/x-latch-0000000005");
  throttle();
  CHECK_PENDING();
  advance(75ms);
  CHECK_PENDING("get /e/x-latch-0000000005");
  answer();
  BOOST_TEST(!campaign.done());
  fire(backend::change::deleted, "/e/x-latch-0000000005");
  BOOST_TEST_REQUIRE(succeeded(campaign));
}

BOOST_AUTO_TEST_CASE(a_node_that_is_lost_meanwhile_is_waited_for_no_longer) {
  create(7);
  throttle();
  own_node_is_there();
  throttle();
  expire();
  BOOST_TEST_REQUIRE(ended_with(campaign, errc::session_expired));
}

BOOST_AUTO_TEST_CASE(giving_up_while_waiting_removes_the_node_and_the_watch) {
  create(7);
  list({own, "x-latch-0000000005"});
  own_node_is_there();
  answer();
  campaign.cancel();
  settle();
  BOOST_TEST((campaign.error() == asio::error::operation_aborted));
  CHECK_PENDING("remove /e/" + own);
  BOOST_TEST(forgotten() == strings{"forget_data /e/x-latch-0000000005"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_node_ends_with_its_session) {
  create(7);
  list({own, "x-latch-0000000005"});
  own_node_is_there();
  answer();
  expire();
  BOOST_TEST_REQUIRE(ended_with(campaign, errc::session_expired));
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_path_that_another_recipe_uses_is_refused) {
  create(7);
  list({"x-latch-0000000005", own, "x-__READ__0000000006", "foreign"});
  BOOST_TEST_REQUIRE(ended_with(campaign, errc::foreign_data));
  CHECK_PENDING("remove /e/" + own);
}

BOOST_AUTO_TEST_CASE(whoever_comes_later_for_another_recipe_disturbs_nobody) {
  create(7);
  list({own, "x-__READ__0000000008"});
  BOOST_TEST_REQUIRE(succeeded(campaign));
}

BOOST_AUTO_TEST_CASE(a_node_found_after_a_lost_reply_is_refused_as_well) {
  own = last().pending.front().first.path.substr(3) + "0000000003";
  reconnect();
  list({own, "x-1-permit-0000000001"});
  answer_with({.stat = {.ephemeral_owner = 0x77}});
  BOOST_TEST_REQUIRE(ended_with(campaign, errc::foreign_data));
  CHECK_PENDING("remove /e/" + own, "children /e");
}

BOOST_AUTO_TEST_CASE(so_is_one_whose_list_was_lost) {
  create(7);
  reconnect();
  own_node_is_there();
  list({own, "x-1-permit-0000000001"});
  BOOST_TEST_REQUIRE(ended_with(campaign, errc::foreign_data));
  BOOST_TEST((last().pending.front().first.op == backend::opcode::remove));
}

// The ensemble does not answer for longer than the lease while we ask for the list: our node is lost.
BOOST_AUTO_TEST_CASE(a_node_that_was_lost_over_the_list_is_nobodys_turn) {
  create(7);
  list({own, "x-latch-0000000003", "x-latch-0000000005"});
  own_node_is_there();
  BOOST_TEST(pending().front() == "get /e/x-latch-0000000005");
  answer();
  fire(backend::change::deleted, "/e/x-latch-0000000005");
  settle();
  BOOST_TEST_REQUIRE(!pending().empty());
  BOOST_TEST(pending().front() == "children /e");
  advance(1min);  // no answer comes, and the server does not end the session either
  BOOST_TEST_REQUIRE(ended_with(campaign, errc::lease_lapsed));
}

BOOST_AUTO_TEST_SUITE_END()
