// Our node in a line: lost replies, lost sessions, acquisitions that are given up, releases.
#include "line/own_node.hpp"

#include <zkrecipes/double_barrier.hpp>
#include <zkrecipes/multi_lock.hpp>

#include "unit/in_line.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(lines, in_line)

BOOST_AUTO_TEST_CASE(the_path_is_made_where_it_is_missing) {
  fail(errc::no_node);
  fail(errc::no_node);
  CHECK_PENDING("create /e");
  answer();
  create(0);
  list({own});
  BOOST_TEST(campaign.done());
}

BOOST_AUTO_TEST_CASE(a_node_made_although_the_reply_was_lost_is_ours) {
  const auto prefix = last().pending.front().first.path.substr(3);
  own = prefix + "0000000003";
  reconnect();
  list({own, "x-latch-0000000009"});
  CHECK_PENDING("exists /e/" + own);
  backend::reply found;
  found.stat.ephemeral_owner = 0x77;
  found.stat.czxid = 103;
  answer(found);
  BOOST_TEST_REQUIRE(campaign.done());
  BOOST_TEST(campaign.result<0>().token() == 103);
}

BOOST_AUTO_TEST_CASE(a_node_that_was_not_made_is_made_then) {
  const auto asked = last().pending.front().first.path;
  reconnect();
  list({"x-latch-0000000009"});
  BOOST_TEST_REQUIRE(!last().pending.empty());
  BOOST_TEST(last().pending.front().first.path == asked, "under the same GUID");
  create(11);
  list({own, "x-latch-0000000009"});
  own_node_is_there();
  CHECK_PENDING("get /e/x-latch-0000000009");
}

BOOST_AUTO_TEST_CASE(a_node_whose_removal_is_under_way_is_removed_once) {
  auto released = release();
  const auto removal = pending();
  campaign.result<0>() = ownership();
  zk.get_core()->remove_orphans("/e", {own});
  settle();
  BOOST_TEST(pending() == removal, boost::test_tools::per_element());
  auto lost = own;
  auto& digit = lost[own.find("-latch-") - 1];
  digit = digit == 'a' ? 'b' : 'a';  // another GUID of this session
  zk.get_core()->remove_orphans("/e", {lost});
  settle();
  auto all = removal;
  all.push_back("exists /e/" + lost);
  BOOST_TEST(pending() == all, boost::test_tools::per_element());
  zk.get_core()->remove_orphans("/e", {lost});
  settle();
  BOOST_TEST(pending() == all, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_second_node_of_ours_does_not_stand_in_our_way_and_goes_with_us) {
  const auto prefix = last().pending.front().first.path.substr(3);
  reconnect();
  list({});
  create(11);
  list({own, prefix + "0000000010"});  // the first create has turned up late
  BOOST_TEST_REQUIRE(campaign.done());
  own_node_is_there();
  campaign.result<0>() = ownership();
  settle();
  BOOST_TEST_REQUIRE(pending().size() == 2u);
  BOOST_TEST(pending()[0] == "remove /e/" + own);
  BOOST_TEST(pending()[1] == "children /e");
  answer();
  list({prefix + "0000000010"});
  CHECK_PENDING("remove /e/" + prefix + "0000000010");
  answer();
  list({});
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(giving_up_with_the_create_in_flight_removes_what_comes_of_it) {
  const auto prefix = last().pending.front().first.path.substr(3);
  campaign.cancel();
  settle();
  BOOST_TEST_REQUIRE(campaign.done());
  BOOST_TEST((campaign.error() == asio::error::operation_aborted));
  create(7);
  list({own});
  list({own});
  CHECK_PENDING("remove /e/" + own);
  answer();
  list({});
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(giving_up_without_the_right_to_remove_is_tried_again_with_growing_pauses) {
  campaign.cancel();
  settle();
  create(7);
  list({own});
  list({own});
  CHECK_PENDING("remove /e/" + own);
  fail(errc::no_auth);
  CHECK_PENDING();
  advance(200ms);
  CHECK_PENDING("children /e");
  fail(errc::server_error);  // the node may still be there
  CHECK_PENDING();
  advance(400ms);
  CHECK_PENDING("children /e");
  list({own});
  CHECK_PENDING("remove /e/" + own);
  answer();
  list({});
  advance(1min);
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_server_that_is_too_busy_to_look_at_our_node_is_asked_again) {
  create(7);
  list({own});
  CHECK_PENDING("get /e/" + own);
  fail(errc::server_error);
  CHECK_PENDING();
  advance(200ms);
  CHECK_PENDING("get /e/" + own);
  fail(errc::no_node);
  BOOST_TEST((campaign.result<0>().error() == errc::node_removed));
}

BOOST_AUTO_TEST_CASE(a_release_that_the_server_is_too_busy_for_is_tried_until_it_is_done) {
  auto released = release();
  for (int i = 0; i < 5; ++i) {
    CHECK_PENDING("remove /e/" + own);
    fail(errc::server_error);
    CHECK_PENDING();
    BOOST_TEST(!released.done());
    advance(100ms * (2 << i));
  }
  CHECK_PENDING("remove /e/" + own);
  answer();
  BOOST_TEST_REQUIRE(released.done());
  BOOST_TEST(!released.error(), released.error().message());
}

BOOST_AUTO_TEST_CASE(a_release_that_is_refused_is_told_and_tried_again) {
  auto released = release();
  fail(errc::no_auth);
  BOOST_TEST_REQUIRE(released.done());
  BOOST_TEST((released.error() == errc::no_auth));
  CHECK_PENDING();
  advance(200ms);
  CHECK_PENDING("remove /e/" + own);
  answer();
  advance(2s);
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_create_in_flight_is_not_done_for_another_session) {
  expire();
  BOOST_TEST_REQUIRE(campaign.done());
  BOOST_TEST((campaign.error() == errc::session_expired));
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(an_owner_is_told_once_why_it_has_lost) {
  create(7);
  list({own});
  own_node_is_there();
  auto lost = record<>();
  campaign.result<0>().async_lost(lost.token());
  settle();
  BOOST_TEST(!lost.done());
  fire(backend::change::deleted, "/e/" + own);
  fail(errc::no_node);
  BOOST_TEST_REQUIRE(lost.done());
  BOOST_TEST((lost.error() == errc::node_removed));
  BOOST_TEST((campaign.result<0>().error() == errc::node_removed));
  BOOST_TEST((campaign.result<0>().valid_until() == lease_clock::time_point{}));
}

BOOST_AUTO_TEST_CASE(the_lease_ends_an_ownership_by_the_clock_alone) {
  create(7);
  list({own});
  own_node_is_there();
  auto lost = record<>();
  campaign.result<0>().async_lost(lost.token());
  settle();
  const auto until = campaign.result<0>().valid_until();
  lose();
  advance(until - now() - 1ns);
  BOOST_TEST(!lost.done());
  advance(1ns);
  BOOST_TEST_REQUIRE(lost.done());
  BOOST_TEST((lost.error() == errc::lease_lapsed));
  connect();
  BOOST_TEST(pending() == strings{"remove /e/" + own}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_ownership_is_valid_until_its_end_and_not_beyond_its_lease) {
  BOOST_TEST(!ownership().valid());
  create(7);
  list({own});
  own_node_is_there();
  auto& held = campaign.result<0>();
  BOOST_TEST(held.valid());
  // The process was paused: nothing has run since that could have noticed the end of the lease.
  const auto before = now();
  state().now = held.valid_until() - 1ns;
  BOOST_TEST(held.valid());
  state().now = held.valid_until();
  BOOST_TEST(!held.valid());
  state().now = before;
  BOOST_TEST(held.valid());
  fire(backend::change::deleted, "/e/" + own);
  fail(errc::no_node);
  BOOST_TEST(!held.valid());
}

BOOST_AUTO_TEST_CASE(a_released_ownership_is_not_valid) {
  auto released = release();
  BOOST_TEST(!released.done());
  BOOST_TEST(!campaign.result<0>().valid(), "as soon as the release was asked for");
}

BOOST_AUTO_TEST_CASE(a_node_that_we_may_not_read_is_asked_for_again_with_growing_pauses) {
  create(7);
  list({own});
  BOOST_TEST_REQUIRE(campaign.done());
  for (const auto pause : {150ms, 300ms, 600ms}) {
    CHECK_PENDING("get /e/" + own);
    fail(errc::no_auth);
    CHECK_PENDING();
    advance(pause / 4);
    CHECK_PENDING();
    advance(pause);
  }
  BOOST_TEST(!campaign.result<0>().error());
  fail(errc::no_node);  // nobody has told that it was removed meanwhile
  BOOST_TEST((campaign.result<0>().error() == errc::node_removed));
}

// A server tells nothing of a node that we may not read at that moment.
BOOST_AUTO_TEST_CASE(a_removal_that_no_event_has_told_is_found_out_by_a_heartbeat) {
  create(7);
  list({own});
  own_node_is_there();
  live(10s);
  BOOST_TEST(!campaign.result<0>().error());
  advance(3s);
  CHECK_PENDING("exists /");
  fail(errc::no_node);
  CHECK_PENDING("get /e/" + own);
  fail(errc::no_node);
  BOOST_TEST((campaign.result<0>().error() == errc::node_removed));
}

BOOST_AUTO_TEST_CASE(numbers_near_the_wrap_are_refused_and_the_node_removed) {
  create(2147483647);
  list({own});
  BOOST_TEST_REQUIRE(campaign.done());
  BOOST_TEST((campaign.error() == errc::sequence_exhausted));
  CHECK_PENDING("remove /e/" + own);
}

BOOST_AUTO_TEST_CASE(an_ownership_that_takes_another_over_gives_its_own_up_at_once) {
  create(7);
  list({own});
  own_node_is_there();
  ownership held = std::move(campaign.result<0>());
  ownership none;
  held = std::move(none);
  settle();
  CHECK_PENDING("remove /e/" + own);
}

BOOST_AUTO_TEST_CASE(who_owns_nothing_can_commit_nothing) {
  create(7);
  list({own});
  own_node_is_there();
  const auto change = transaction().set("/result", "unfenced");
  multi_ownership moved;
  const auto taken = std::move(moved);
  for (const auto& fenced : {ownership().fenced(change), multi_ownership().fenced(change), moved.fenced(change),
                             attendance().fenced(change)}) {
    BOOST_TEST((commit(fenced) == errc::bad_arguments));
  }
  CHECK_PENDING();
}

BOOST_AUTO_TEST_SUITE_END()
