// Our node in a line: lost replies, lost sessions, acquisitions that are given up, releases.
// Requests to give an ownership up.
#include "line/own_node.hpp"

#include <zkrecipes/double_barrier.hpp>
#include <zkrecipes/lock.hpp>
#include <zkrecipes/multi_lock.hpp>
#include <zkrecipes/read_write_lock.hpp>

#include "line/line_spec.hpp"
#include "unit/fake_session.hpp"
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
  answer_with({.stat = {.czxid = 103, .ephemeral_owner = 0x77}});
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
  BOOST_TEST_REQUIRE(ended_with(campaign, asio::error::operation_aborted));
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
  BOOST_TEST_REQUIRE(succeeded(released));
}

BOOST_AUTO_TEST_CASE(a_release_that_is_refused_is_told_and_tried_again) {
  auto released = release();
  fail(errc::no_auth);
  BOOST_TEST_REQUIRE(ended_with(released, errc::no_auth));
  CHECK_PENDING();
  advance(200ms);
  CHECK_PENDING("remove /e/" + own);
  answer();
  advance(2s);
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_create_in_flight_is_not_done_for_another_session) {
  expire();
  BOOST_TEST_REQUIRE(ended_with(campaign, errc::session_expired));
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(an_owner_is_told_once_why_it_has_lost) {
  lead();
  auto lost = campaign.result<0>().async_lost(begun());
  BOOST_TEST(!lost.done());
  fire(backend::change::deleted, "/e/" + own);
  fail(errc::no_node);
  BOOST_TEST_REQUIRE(ended_with(lost, errc::node_removed));
  BOOST_TEST((campaign.result<0>().error() == errc::node_removed));
  BOOST_TEST((campaign.result<0>().valid_until() == lease_clock::time_point{}));
}

BOOST_AUTO_TEST_CASE(the_lease_ends_an_ownership_by_the_clock_alone) {
  lead();
  auto lost = campaign.result<0>().async_lost(begun());
  const auto until = campaign.result<0>().valid_until();
  lose();
  advance(until - now() - 1ns);
  BOOST_TEST(!lost.done());
  advance(1ns);
  BOOST_TEST_REQUIRE(ended_with(lost, errc::lease_lapsed));
  connect();
  BOOST_TEST(pending() == strings{"remove /e/" + own}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_ownership_is_valid_until_its_end_and_not_beyond_its_lease) {
  BOOST_TEST(!ownership().valid());
  lead();
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
  lead();
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
  BOOST_TEST_REQUIRE(ended_with(campaign, errc::sequence_exhausted));
  CHECK_PENDING("remove /e/" + own);
}

BOOST_AUTO_TEST_CASE(an_ownership_that_takes_another_over_gives_its_own_up_at_once) {
  lead();
  ownership held = std::move(campaign.result<0>());
  ownership none;
  held = std::move(none);
  settle();
  CHECK_PENDING("remove /e/" + own);
}

BOOST_AUTO_TEST_CASE(who_owns_nothing_can_commit_nothing) {
  lead();
  const auto change = transaction().set("/result", "unfenced");
  multi_ownership moved;
  const auto taken = std::move(moved);
  for (const auto& fenced : {ownership().fenced(change), multi_ownership().fenced(change), moved.fenced(change),
                             attendance().fenced(change)}) {
    BOOST_TEST((commit(fenced) == errc::bad_arguments));
  }
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_request_to_give_up_is_told) {
  lead();
  auto revoked = campaign.result<0>().async_revoked(begun());
  ask("{\"id\":\"me\",\"revoke\":true}");
  BOOST_TEST_REQUIRE(ended_with(revoked, errc::revoked));
  live(1h);
  BOOST_TEST(!campaign.result<0>().error());
}

BOOST_AUTO_TEST_CASE(of_several_requests_the_one_that_ends_first_counts) {
  lead();
  auto lost = campaign.result<0>().async_lost(begun());
  ask("{\"revoke\":true}");
  live(10s);
  ask("{\"revoke\":true,\"grace_ms\":5000}");
  live(1s);
  ask("{\"revoke\":true,\"grace_ms\":60000}");
  ask("{\"revoke\":true}");
  live(4s - 1ns);
  BOOST_TEST(!lost.done());
  live(1ns);
  BOOST_TEST_REQUIRE(ended_with(lost, errc::revoked));
  BOOST_TEST(is_loss(lost.error()));
  CHECK_PENDING("remove /e/" + own);
}

BOOST_AUTO_TEST_CASE(a_holder_that_does_not_say_that_it_reads_requests_is_not_asked) {
  lead();
  lock theirs(zk, "/l");
  for (const std::string data : {"10.1.1.0", "", "{\"id\":\"me\"}", "{\"revocable\":1}", "__REVOKE__", "{", "\xff"}) {
    auto asking = theirs.async_request_revocation(1s, begun());
    CHECK_PENDING("multi /", "children /l");
    answer();
    list({"x-lock-0000000001"});
    CHECK_PENDING("get /l/x-lock-0000000001");
    answer_with({.data = data});
    CHECK_PENDING();
    BOOST_TEST_REQUIRE(ended_with(asking, errc::foreign_data));
  }
}

BOOST_AUTO_TEST_CASE(one_that_does_is_asked_under_the_version_that_was_read) {
  lead();
  lock theirs(zk, "/l");
  auto asking = theirs.async_request_revocation(500ms, begun());
  answer();
  list({"x-lock-0000000001"});
  answer_with({.data = detail::revocable_data("them"), .stat = {.version = 3}});
  CHECK_PENDING("set /l/x-lock-0000000001");
  const auto written = answer();
  BOOST_TEST(written.data ==
             "{\"zkrecipes\":\"member\",\"id\":\"them\",\"revocable\":true,\"revoke\":true,\"grace_ms\":500}");
  BOOST_TEST(written.version == 3);
  BOOST_TEST_REQUIRE(succeeded(asking));
}

// The owner may read only the last of several requests, so a later request must not hide an earlier one's shorter
// grace.
BOOST_AUTO_TEST_CASE(a_later_request_does_not_lengthen_the_grace_of_an_earlier_one) {
  const auto asked = detail::with_revocation("me", 500ms);
  for (const auto later : {std::chrono::milliseconds(501), std::chrono::milliseconds(10s), detail::any_grace}) {
    BOOST_TEST((detail::grace_of(detail::with_revocation(asked, later)) == 500ms));
  }
  BOOST_TEST((detail::grace_of(detail::with_revocation(asked, 100ms)) == 100ms));
  const auto without_end = detail::with_revocation("me");
  BOOST_TEST((detail::grace_of(detail::with_revocation(without_end, 500ms)) == 500ms));
  BOOST_TEST((detail::grace_of(detail::with_revocation("{\"id\":\"me\",\"grace_ms\":5}", 500ms)) == 500ms),
             "no request");
}

BOOST_AUTO_TEST_CASE(a_request_that_is_read_again_gives_no_more_time) {
  lead();
  ask("{\"revoke\":true,\"grace_ms\":5000}");
  live(3s);
  reconnect();
  answer_with({.data = "{\"revoke\":true,\"grace_ms\":5000}"});
  live(2s - 1ns);
  BOOST_TEST(!campaign.result<0>().error());
  live(1ns);
  BOOST_TEST((campaign.result<0>().error() == errc::revoked));
}

BOOST_AUTO_TEST_CASE(a_grace_may_be_as_long_as_one_likes) {
  lead();
  ask("{\"revoke\":true,\"grace_ms\":9223372036854775806}");
  ask("{\"revoke\":true,\"grace_ms\":7200000}");
  live(2h - 1ns);
  BOOST_TEST(!campaign.result<0>().error());
  live(1ns);
  BOOST_TEST((campaign.result<0>().error() == errc::revoked));
}

BOOST_AUTO_TEST_SUITE_END()

// A hold that was lost with its session while its node still stands: a deposed leader can tell a client that its
// session has ended, although the other servers keep the session.
namespace {

struct lost_hold : fake_session {
  lost_hold() : guarded(zk, "/g") {}

  ownership hold(bool reads) {
    connect();
    auto acquired = record<ownership>();
    reads ? guarded.async_acquire_read(acquired.token()) : guarded.async_acquire_write(acquired.token());
    settle();
    backend::reply made;
    made.path = last().pending.front().first.path + "0000000001";
    made.stat.ephemeral_owner = 0x77;
    answer(made);
    list({made.path.substr(3)});
    BOOST_TEST_REQUIRE(acquired.done());
    return std::move(acquired.result<0>());
  }

  read_write_lock guarded;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(lost_holds, lost_hold)

BOOST_AUTO_TEST_CASE(a_readers_hold_is_not_upgraded_in_the_next_session) {
  auto held = hold(true);
  expire();
  auto alone = guarded.async_try_upgrade(held, begun());
  BOOST_TEST_REQUIRE(ended_with(alone, errc::session_expired));
}

BOOST_AUTO_TEST_CASE(nor_is_a_writers_hold_downgraded) {
  auto held = hold(false);
  expire();
  auto lowered = guarded.async_downgrade(held, begun());
  BOOST_TEST_REQUIRE(ended_with(lowered, errc::session_expired));
}

BOOST_AUTO_TEST_CASE(a_downgrade_by_another_object_keeps_the_name_of_the_owner) {
  auto held = hold(false);
  auto lowered = record<>();
  read_write_lock(zk, guarded.path(), {.id = "other"}).async_downgrade(held, lowered.token());
  settle();
  BOOST_TEST_REQUIRE(!pending().empty());
  const auto& set = last().pending.back().first;
  BOOST_TEST_REQUIRE((set.op == backend::opcode::set));
  BOOST_TEST(detail::member_id(set.data) == guarded.options().id);
}

BOOST_AUTO_TEST_SUITE_END()
