// Waiting for a change of a node: the state that is read counts, not the event; and no watch is left behind.
#include <boost/test/unit_test.hpp>

#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct watching : fake_session {
  watching() { connect(); }

  recorder<node_data> wait_for_change(std::int64_t seen) {
    auto made = record<node_data>();
    zk.async_data_change("/a", seen, made.token());
    settle();
    return made;
  }
  /// The node exists with this mzxid.
  void answer_stat(std::int64_t mzxid) {
    backend::reply found;
    found.stat.mzxid = mzxid;
    found.data = "data";
    answer(found);
  }
};

}  // namespace

#define CHECK_FORGOTTEN(...) BOOST_TEST(forgotten() == (strings{__VA_ARGS__}), boost::test_tools::per_element())

BOOST_FIXTURE_TEST_SUITE(session_watches, watching)

BOOST_AUTO_TEST_CASE(what_is_different_already_is_told_at_once) {
  auto change = wait_for_change(5);
  answer_stat(6);
  answer_stat(6);
  BOOST_TEST_REQUIRE(change.done());
  BOOST_TEST(change.result<0>().data == "data");
  CHECK_FORGOTTEN("forget_data /a");
}

BOOST_AUTO_TEST_CASE(an_event_without_a_difference_is_no_change) {
  auto change = wait_for_change(5);
  answer_stat(5);
  CHECK_PENDING();
  fire(backend::change::data, "/a");
  CHECK_PENDING("exists /a");
  answer_stat(5);
  BOOST_TEST(!change.done());
  fire(backend::change::data, "/a");
  answer_stat(7);
  answer_stat(7);
  BOOST_TEST(change.done());
}

BOOST_AUTO_TEST_CASE(a_change_while_the_connection_was_away_is_seen) {
  auto change = wait_for_change(5);
  answer_stat(5);
  reconnect();
  CHECK_PENDING("exists /a");
  answer_stat(6);
  answer_stat(6);
  BOOST_TEST(change.done());
}

// A server tells nothing of a node that the session may not read at that moment, and its watch is used up.
BOOST_AUTO_TEST_CASE(a_change_that_no_event_has_told_is_found_out_by_a_heartbeat) {
  auto change = wait_for_change(5);
  answer_stat(5);
  advance(3s);
  CHECK_PENDING("exists /");
  BOOST_TEST(last().pending.front().first.path == "/a");
  BOOST_TEST(!last().pending.front().first.watch);
  answer_stat(5);
  CHECK_PENDING();
  advance(3s);
  answer_stat(7);
  CHECK_PENDING("get /a");
  answer_stat(7);
  CHECK_PENDING("exists /a");
  answer_stat(7);
  answer_stat(7);
  BOOST_TEST(change.done());
  forgotten();
  advance(1min);
  CHECK_PENDING();
}

// An operator who closes a tree for a while, and changes it meanwhile, ends no wait.
BOOST_AUTO_TEST_CASE(a_change_of_a_node_that_may_not_be_read_is_told_when_it_may) {
  auto change = wait_for_change(5);
  answer_stat(5);
  for (int i = 0; i < 3; ++i) {
    advance(3s);
    answer_stat(7);
    CHECK_PENDING("get /a");
    fail(errc::no_auth);
    CHECK_PENDING();
  }
  BOOST_TEST(!change.done());
  advance(3s);
  for (int i = 0; i < 4; ++i) answer_stat(7);
  BOOST_TEST_REQUIRE(change.done());
  BOOST_TEST(!change.error());
}

BOOST_AUTO_TEST_CASE(a_node_whose_coming_no_event_has_told_is_found_out) {
  auto change = wait_for_change(0);
  fail(errc::no_node);
  advance(3s);
  fail(errc::no_node);
  CHECK_PENDING();
  advance(3s);
  fail(errc::no_auth);  // servers may come to refuse this one day: the next heartbeat tries again
  CHECK_PENDING();
  advance(3s);
  for (int i = 0; i < 4; ++i) answer_stat(9);
  BOOST_TEST(change.done());
}

BOOST_AUTO_TEST_CASE(a_change_that_no_event_has_told_is_told_to_the_log) {
  auto options = usual();
  std::vector<std::string> lines;
  options.log = [&](const log_event& event) {
    if (event.severity >= log_severity::info) lines.push_back(to_string(event));
  };
  fake_session it(options);
  it.connect();
  auto change = it.record<node_data>();
  it.zk.async_data_change("/a", 0, change.token());
  it.settle();
  it.fail(errc::no_node);
  it.advance(3s);
  lines.clear();
  it.fail(errc::no_node);
  BOOST_TEST(lines.empty());
  it.advance(3s);
  backend::reply made;
  made.stat.mzxid = 9;
  it.answer(made);
  BOOST_TEST(lines.empty());
  it.answer(made);
  BOOST_TEST_REQUIRE(lines.size() == 1u);
  BOOST_TEST(lines[0] ==
             "change_untold /a (a server tells nothing of a node that the session may not read at that moment)");
}

BOOST_AUTO_TEST_CASE(a_node_that_was_not_there_is_waited_for) {
  auto change = wait_for_change(0);
  fail(errc::no_node);
  BOOST_TEST(!change.done());
  fire(backend::change::created, "/a");
  answer_stat(9);
  answer_stat(9);
  BOOST_TEST_REQUIRE(change.done());
  BOOST_TEST(change.result<0>().stat.mzxid == 9);
}

BOOST_AUTO_TEST_CASE(a_node_that_comes_and_goes_between_two_looks_is_waited_for_on) {
  auto change = wait_for_change(0);
  answer_stat(9);
  fail(errc::no_node);
  BOOST_TEST(!change.done());
  CHECK_PENDING("exists /a");
}

BOOST_AUTO_TEST_CASE(a_node_that_has_gone_is_a_change) {
  auto change = wait_for_change(5);
  answer_stat(5);
  fire(backend::change::deleted, "/a");
  fail(errc::no_node);
  BOOST_TEST_REQUIRE(change.done());
  BOOST_TEST((change.error() == errc::no_node));
}

BOOST_AUTO_TEST_CASE(children_are_compared_by_their_parents_pzxid) {
  auto change = record<node_children>();
  zk.async_children_change("/a", 5, change.token());
  settle();
  backend::reply listed;
  listed.stat.pzxid = 5;
  answer(listed);
  BOOST_TEST(!change.done());
  fire(backend::change::children, "/a");
  listed.stat.pzxid = 6;
  listed.children = {"x"};
  answer(listed);
  BOOST_TEST_REQUIRE(change.done());
  BOOST_TEST(change.result<0>().names == strings{"x"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(giving_up_takes_the_watch_away) {
  auto change = wait_for_change(5);
  answer_stat(5);
  CHECK_FORGOTTEN();
  change.cancel();
  settle();
  BOOST_TEST_REQUIRE(change.done());
  BOOST_TEST((change.error() == asio::error::operation_aborted));
  CHECK_FORGOTTEN("forget_data /a");
}

// The server sets the watch when it executes the request, even if nobody waits for the answer any more. Before that
// there is no watch to remove: the C client would report so, and keep the watch that comes then.
BOOST_AUTO_TEST_CASE(giving_up_before_the_answer_takes_the_watch_away_behind_it) {
  auto change = wait_for_change(5);
  CHECK_PENDING("exists /a");
  change.cancel();
  settle();
  BOOST_TEST_REQUIRE(change.done());
  CHECK_FORGOTTEN();
  answer_stat(5);
  CHECK_FORGOTTEN("forget_data /a");
}

BOOST_AUTO_TEST_CASE(who_comes_while_somebody_gives_up_keeps_the_watch) {
  auto early = wait_for_change(5);
  early.cancel();
  settle();
  auto late = wait_for_change(5);
  answer_stat(5);
  answer_stat(5);
  CHECK_FORGOTTEN();
  fire(backend::change::data, "/a");
  answer_stat(6);
  answer_stat(6);
  BOOST_TEST(late.done());
}

BOOST_AUTO_TEST_CASE(a_lost_connection_needs_no_taking_away) {
  auto change = wait_for_change(5);
  change.cancel();
  settle();
  reconnect();
  CHECK_FORGOTTEN();
}

BOOST_AUTO_TEST_CASE(of_two_who_wait_for_one_node_one_can_give_up) {
  auto one = wait_for_change(5);
  auto two = wait_for_change(5);
  answer_stat(5);
  answer_stat(5);
  one.cancel();
  settle();
  CHECK_FORGOTTEN();
  fire(backend::change::data, "/a");
  answer_stat(6);
  answer_stat(6);
  BOOST_TEST(two.done());
}

BOOST_AUTO_TEST_CASE(watches_are_for_paths_below_the_root) {
  auto options = usual();
  options.root = "/r";
  fake_session it(options);
  it.connect();
  auto change = it.record<node_data>();
  it.zk.async_data_change("/a", 0, change.token());
  it.settle();
  it.fail(errc::no_node);
  it.fire(backend::change::created, "/r/a");
  BOOST_TEST(it.pending() == strings{"exists /r/a"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
