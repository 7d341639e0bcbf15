// A place in a line: lost replies, lost sessions, acquisitions that are given up.
#include <boost/test/unit_test.hpp>

#include <zkrecipes/double_barrier.hpp>
#include <zkrecipes/election.hpp>
#include <zkrecipes/lock.hpp>
#include <zkrecipes/multi_lock.hpp>

#include "line/place.hpp"
#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct in_line : fake_session {
  in_line() : vote(zk, "/e", {"me"}), campaign(record<ownership>()) {
    connect();
    vote.async_campaign(campaign.token());
    settle();
  }

  /// The server creates the node that was asked for, with this number.
  void create(int sequence) {
    BOOST_TEST_REQUIRE(!last().pending.empty());
    const auto& asked = last().pending.front().first;
    BOOST_TEST_REQUIRE((asked.op == backend::opcode::create), to_string(asked.op));
    own = asked.path.substr(3) + digits(sequence);
    backend::reply made;
    made.path = "/e/" + own;
    made.stat.czxid = std::int64_t{100} + sequence;
    made.stat.ephemeral_owner = 0x77;
    answer(made);
  }
  /// Answers every pending read of our own node.
  void own_node_is_there() {
    while (!pending().empty() && pending().front() == "get /e/" + own) answer();
  }
  /// Somebody writes this data to our own node, for example a request to give it up.
  void ask(const std::string& data) {
    fire(backend::change::data, "/e/" + own);
    BOOST_TEST_REQUIRE(pending() == strings{"get /e/" + own}, boost::test_tools::per_element());
    backend::reply asked;
    asked.data = data;
    answer(asked);
  }
  /// Becomes the owner and releases; the remove request stays unanswered.
  recorder<> release() {
    create(7);
    list({own});
    own_node_is_there();
    auto released = record<>();
    campaign.result<0>().async_release(released.token());
    settle();
    return released;
  }
  /// Time passes while the server answers the heartbeats.
  void live(std::chrono::nanoseconds span) {
    const auto until = now() + span;
    while (now() < until) {
      advance(std::min<std::chrono::nanoseconds>(1s, until - now()));
      while (!pending().empty() && pending().front() == "exists /") answer();
    }
  }
  error_code commit(transaction what) {
    auto committing = record<std::vector<operation_result>>();
    zk.async_commit(std::move(what), committing.token());
    settle();
    BOOST_TEST_REQUIRE(committing.done(), "it has been sent");
    return committing.error();
  }
  static std::string digits(int sequence) {
    auto text = std::to_string(sequence);
    return std::string(10 - text.size(), '0') + text;
  }

  std::string own;
  election vote;
  recorder<ownership> campaign;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(places, in_line)

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

BOOST_AUTO_TEST_CASE(a_loss_that_is_noted_while_we_look_ahead_ends_the_waiting) {
  create(7);
  list({own, "x-latch-0000000005"});
  CHECK_PENDING("get /e/" + own, "get /e/x-latch-0000000005");
  fail(errc::no_node);  // an operator has removed our node
  BOOST_TEST(!campaign.done());
  answer();
  BOOST_TEST_REQUIRE(campaign.done());
  BOOST_TEST((campaign.error() == errc::node_removed), campaign.error().message());
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
  BOOST_TEST_REQUIRE(campaign.done());
  BOOST_TEST((campaign.error() == errc::lease_lapsed), campaign.error().message());
}

BOOST_AUTO_TEST_CASE(so_is_one_whose_look_is_not_answered) {
  create(7);
  list({own, "x-latch-0000000005"});
  own_node_is_there();
  CHECK_PENDING("get /e/x-latch-0000000005");
  advance(zk.valid_until() - now());
  BOOST_TEST_REQUIRE(campaign.done());
  BOOST_TEST((campaign.error() == errc::lease_lapsed), campaign.error().message());
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
  BOOST_TEST_REQUIRE(campaign.done());
  BOOST_TEST(!campaign.error());
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
  BOOST_TEST_REQUIRE(campaign.done());
  BOOST_TEST(!campaign.error());
}

BOOST_AUTO_TEST_CASE(a_place_that_ends_meanwhile_is_waited_for_no_longer) {
  create(7);
  throttle();
  own_node_is_there();
  throttle();
  expire();
  BOOST_TEST_REQUIRE(campaign.done());
  BOOST_TEST((campaign.error() == errc::session_expired), campaign.error().message());
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

BOOST_AUTO_TEST_CASE(a_place_ends_with_its_session) {
  create(7);
  list({own, "x-latch-0000000005"});
  own_node_is_there();
  answer();
  expire();
  BOOST_TEST_REQUIRE(campaign.done());
  BOOST_TEST((campaign.error() == errc::session_expired));
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

BOOST_AUTO_TEST_CASE(a_node_that_we_may_not_read_is_not_asked_for_again_and_again) {
  create(7);
  list({own});
  BOOST_TEST_REQUIRE(campaign.done());
  fail(errc::no_auth);
  CHECK_PENDING();
  BOOST_TEST(!campaign.result<0>().error());
  reconnect();
  CHECK_PENDING("get /e/" + own);
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

BOOST_AUTO_TEST_CASE(a_request_to_give_up_is_told) {
  create(7);
  list({own});
  own_node_is_there();
  auto revoked = record<>();
  campaign.result<0>().async_revoked(revoked.token());
  settle();
  ask("{\"id\":\"me\",\"revoke\":true}");
  BOOST_TEST_REQUIRE(revoked.done());
  BOOST_TEST((revoked.error() == errc::revoked));
  live(1h);
  BOOST_TEST(!campaign.result<0>().error());
}

BOOST_AUTO_TEST_CASE(of_several_requests_the_one_that_ends_first_counts) {
  create(7);
  list({own});
  own_node_is_there();
  auto lost = record<>();
  campaign.result<0>().async_lost(lost.token());
  settle();
  ask("{\"revoke\":true}");
  live(10s);
  ask("{\"revoke\":true,\"grace_ms\":5000}");
  live(1s);
  ask("{\"revoke\":true,\"grace_ms\":60000}");
  ask("{\"revoke\":true}");
  live(4s - 1ns);
  BOOST_TEST(!lost.done());
  live(1ns);
  BOOST_TEST_REQUIRE(lost.done());
  BOOST_TEST((lost.error() == errc::revoked));
  BOOST_TEST(is_loss(lost.error()));
  CHECK_PENDING("remove /e/" + own);
}

BOOST_AUTO_TEST_CASE(a_holder_that_does_not_say_that_it_reads_requests_is_not_asked) {
  create(7);
  list({own});
  own_node_is_there();
  lock theirs(zk, "/l");
  for (const std::string data : {"10.1.1.0", "", "{\"id\":\"me\"}", "{\"revocable\":1}", "__REVOKE__", "{", "\xff"}) {
    auto asking = record<>();
    theirs.async_request_revocation(1s, asking.token());
    settle();
    CHECK_PENDING("multi /", "children /l");
    answer();
    list({"x-lock-0000000001"});
    CHECK_PENDING("get /l/x-lock-0000000001");
    backend::reply found;
    found.data = data;
    answer(found);
    CHECK_PENDING();
    BOOST_TEST_REQUIRE(asking.done());
    BOOST_TEST((asking.error() == errc::foreign_data), asking.error().message());
  }
}

BOOST_AUTO_TEST_CASE(one_that_does_is_asked_under_the_version_that_was_read) {
  create(7);
  list({own});
  own_node_is_there();
  lock theirs(zk, "/l");
  auto asking = record<>();
  theirs.async_request_revocation(500ms, asking.token());
  settle();
  answer();
  list({"x-lock-0000000001"});
  backend::reply found;
  found.data = detail::revocable_data("them");
  found.stat.version = 3;
  answer(found);
  CHECK_PENDING("set /l/x-lock-0000000001");
  const auto written = answer();
  BOOST_TEST(written.data ==
             "{\"zkrecipes\":\"member\",\"id\":\"them\",\"revocable\":true,\"revoke\":true,\"grace_ms\":500}");
  BOOST_TEST(written.version == 3);
  BOOST_TEST_REQUIRE(asking.done());
  BOOST_TEST(!asking.error());
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
  create(7);
  list({own});
  own_node_is_there();
  ask("{\"revoke\":true,\"grace_ms\":5000}");
  live(3s);
  reconnect();
  backend::reply asked;
  asked.data = "{\"revoke\":true,\"grace_ms\":5000}";
  answer(asked);
  live(2s - 1ns);
  BOOST_TEST(!campaign.result<0>().error());
  live(1ns);
  BOOST_TEST((campaign.result<0>().error() == errc::revoked));
}

BOOST_AUTO_TEST_CASE(a_grace_may_be_as_long_as_one_likes) {
  create(7);
  list({own});
  own_node_is_there();
  ask("{\"revoke\":true,\"grace_ms\":9223372036854775806}");
  ask("{\"revoke\":true,\"grace_ms\":7200000}");
  live(2h - 1ns);
  BOOST_TEST(!campaign.result<0>().error());
  live(1ns);
  BOOST_TEST((campaign.result<0>().error() == errc::revoked));
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

BOOST_AUTO_TEST_CASE(a_path_that_another_recipe_uses_is_refused) {
  create(7);
  list({"x-latch-0000000005", own, "x-__READ__0000000006", "foreign"});
  BOOST_TEST_REQUIRE(campaign.done());
  BOOST_TEST((campaign.error() == errc::foreign_data));
  CHECK_PENDING("remove /e/" + own);
}

BOOST_AUTO_TEST_CASE(whoever_comes_later_for_another_recipe_disturbs_nobody) {
  create(7);
  list({own, "x-__READ__0000000008"});
  BOOST_TEST_REQUIRE(campaign.done());
  BOOST_TEST(!campaign.error());
}

BOOST_AUTO_TEST_CASE(a_node_found_after_a_lost_reply_is_refused_as_well) {
  own = last().pending.front().first.path.substr(3) + "0000000003";
  reconnect();
  list({own, "x-1-permit-0000000001"});
  backend::reply found;
  found.stat.ephemeral_owner = 0x77;
  answer(found);
  BOOST_TEST_REQUIRE(campaign.done());
  BOOST_TEST((campaign.error() == errc::foreign_data));
  CHECK_PENDING("remove /e/" + own, "children /e");
}

BOOST_AUTO_TEST_CASE(so_is_one_whose_list_was_lost) {
  create(7);
  reconnect();
  own_node_is_there();
  list({own, "x-1-permit-0000000001"});
  BOOST_TEST_REQUIRE(campaign.done());
  BOOST_TEST((campaign.error() == errc::foreign_data));
  BOOST_TEST((last().pending.front().first.op == backend::opcode::remove));
}

// The ensemble does not answer for longer than the lease while we ask for the list: the place is lost.
BOOST_AUTO_TEST_CASE(a_place_that_was_lost_over_the_list_is_nobodys_turn) {
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
  BOOST_TEST_REQUIRE(campaign.done());
  BOOST_TEST((campaign.error() == errc::lease_lapsed), campaign.error().message());
}

BOOST_AUTO_TEST_SUITE_END()
