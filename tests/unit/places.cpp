// A place in a line: lost replies, lost sessions, giving up.
#include "unit/fake_session.hpp"

#include <zkrecipes/election.hpp>

#include <boost/test/unit_test.hpp>

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct in_line : fake_session {
  in_line() : vote(zk, "/e", {"me"}), campaign(record<ownership>()) {
    connect();
    vote.async_campaign(campaign.token());
    settle();
  }

  /// The server creates what was asked for, with this number.
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
  /// Answers every look at our own node that is waiting.
  void own_node_is_there() {
    while (!pending().empty() && pending().front() == "get /e/" + own) answer();
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

BOOST_AUTO_TEST_CASE(giving_up_without_the_right_to_remove_comes_to_an_end) {
  campaign.cancel();
  settle();
  create(7);
  list({own});
  list({own});
  CHECK_PENDING("remove /e/" + own);
  fail(errc::no_auth);
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
  fire(backend::change::data, "/e/" + own);
  backend::reply asked;
  asked.data = "{\"id\":\"me\",\"revoke\":true}";
  answer(asked);
  BOOST_TEST_REQUIRE(revoked.done());
  BOOST_TEST((revoked.error() == errc::revoked));
  BOOST_TEST(!campaign.result<0>().error());
}

// The ensemble was away for longer than the lease while we asked for the list.
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
  BOOST_TEST(!campaign.done());
  list({own});
  BOOST_TEST_REQUIRE(campaign.done());
  BOOST_TEST((campaign.error() == errc::lease_lapsed), campaign.error().message());
}

BOOST_AUTO_TEST_SUITE_END()
