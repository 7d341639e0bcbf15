// The end of a dead process's session while other writers, lost connections and busy servers get in its way.
#include <string>

#include "unit/dead_process.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// The records were read, and the transaction has been sent.
struct about_to_write : dead_process {
  about_to_write() {
    hold("/e");
    begin();
    take_up();
    serve_all();
    BOOST_TEST_REQUIRE(pending() == strings{"multi /"}, boost::test_tools::per_element());
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(dead_sessions_beside_others, about_to_write)

BOOST_AUTO_TEST_CASE(a_record_that_has_changed_is_read_again_and_written_by_its_new_version) {
  nodes["/e"].version = 9;
  serve();
  BOOST_TEST(!has_died("/e"));
  finish();
  BOOST_TEST(has_died("/e"));
  BOOST_TEST(nodes["/e"].version == 11);
  BOOST_TEST(result->died == 1u);
  BOOST_TEST(!result->error, result->error.message());
}

BOOST_AUTO_TEST_CASE(a_successor_that_has_begun_meanwhile_is_not_overwritten) {
  auto next = record_at("/e");
  next.epoch = 4;
  next.leader_node = "n2";
  nodes["/e"] = {detail::serialize(next), 6};
  finish();
  BOOST_TEST(record_at("/e").leader_node == "n2");
  BOOST_TEST(!has_died("/e"));
  BOOST_TEST(nodes["/e"].version == 6);
  BOOST_TEST(result->died == 0u);
  BOOST_TEST(result->passed_over == 1u);
}

BOOST_AUTO_TEST_CASE(a_last_write_of_the_process_that_says_retired_stays) {
  auto retired = record_at("/e");
  retired.phase = term_phase::retired;
  nodes["/e"] = {detail::serialize(retired), 6};
  nodes.erase("/e/n1");
  finish();
  BOOST_TEST((record_at("/e").phase == term_phase::retired));
  BOOST_TEST(result->passed_over == 1u);
}

BOOST_AUTO_TEST_CASE(a_seat_that_goes_meanwhile_does_not_keep_the_record_from_being_written) {
  nodes.erase("/e/n1");
  finish();
  BOOST_TEST(has_died("/e"));
  BOOST_TEST(result->died == 1u);
}

BOOST_AUTO_TEST_CASE(a_seat_that_may_not_be_removed_is_left_to_the_end_of_the_session) {
  forbidden_writes["/e/n1"] = errc::no_auth;
  finish();
  BOOST_TEST(has_died("/e"));
  BOOST_TEST(!result->error, result->error.message());
  BOOST_TEST(!nodes.contains("/e/n1"), "it ended with the session");
}

BOOST_AUTO_TEST_CASE(a_lost_reply_is_looked_at_again_and_counts_if_the_transaction_was_executed) {
  serve_and_lose();
  BOOST_TEST(writes == 3);
  finish();
  BOOST_TEST(writes == 3, "nothing was written again");
  BOOST_TEST(nodes["/e"].version == 7);
  BOOST_TEST(result->died == 1u);
  BOOST_TEST(!result->error, result->error.message());
}

BOOST_AUTO_TEST_CASE(a_lost_request_is_sent_again) {
  lose();
  finish();
  BOOST_TEST(has_died("/e"));
  BOOST_TEST(nodes["/e"].version == 7);
  BOOST_TEST(result->died == 1u);
}

BOOST_AUTO_TEST_CASE(a_transaction_that_no_server_takes_does_not_keep_the_session_alive) {
  for (int lost = 1; lost <= 4; ++lost) {
    BOOST_TEST_REQUIRE(pending().at(0).starts_with("multi"));
    lose();
    advance(1s);
    take_up();
    if (lost < 4) serve_all();
  }
  BOOST_TEST(last().closing);
  finish();
  BOOST_TEST(!has_died("/e"));
  BOOST_TEST(result->is_closed);
  BOOST_TEST((result->error == errc::connection_loss));
}

BOOST_AUTO_TEST_CASE(a_death_that_somebody_else_has_written_is_not_counted_as_ours) {
  nodes["/e"] = {detail::record_of_death(nodes["/e"].data).value(), 7};
  finish();
  BOOST_TEST(result->died == 0u);
  BOOST_TEST(result->passed_over == 1u);
  BOOST_TEST(nodes["/e"].version == 7);
}

BOOST_AUTO_TEST_CASE(a_session_that_ends_before_the_transaction_leaves_everything_as_it_is) {
  is_alive = false;
  lose(errc::session_expired);
  finish();
  BOOST_TEST(!has_died("/e"));
  BOOST_TEST(result->is_closed);
  BOOST_TEST(result->died == 0u);
}

BOOST_AUTO_TEST_CASE(a_close_that_was_lost_is_sent_again) {
  serve();
  BOOST_TEST_REQUIRE(last().closing);
  lose(errc::closed);  // the server has not got it
  advance(1s);
  BOOST_TEST(!result.has_value());
  take_up();
  BOOST_TEST(last().closing);
  CHECK_ASKED();
  finish();
  BOOST_TEST(result->is_closed);
  BOOST_TEST(!result->error, result->error.message());
  BOOST_TEST(result->died == 1u);
}

BOOST_AUTO_TEST_CASE(a_server_that_throttles_is_asked_again_after_a_pause) {
  refuse(errc::server_error);
  CHECK_ASKED();
  advance(100ms);
  CHECK_ASKED("multi /", "get /e", "exists /e/n1");
  refuse(errc::server_error);  // the catch-up: the reads behind it may be old
  serve_all();
  CHECK_ASKED();
  advance(1s);
  CHECK_ASKED("multi /", "get /e", "exists /e/n1");
  finish();
  BOOST_TEST(has_died("/e"));
  BOOST_TEST(!result->error, result->error.message());
}

BOOST_AUTO_TEST_CASE(a_server_that_throttles_for_long_does_not_keep_the_session_alive) {
  const auto since = now();
  while (!last().closing && now() - since < 30s) {
    while (!last().pending.empty()) refuse(errc::server_error);
    advance(100ms);
  }
  BOOST_TEST(last().closing);
  BOOST_TEST((now() - since > 1s));
  finish();
  BOOST_TEST((result->error == errc::server_error));
  BOOST_TEST(result->is_closed);
  BOOST_TEST(result->died == 0u);
  BOOST_TEST(!has_died("/e"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(dead_sessions_in_trouble, dead_process)

BOOST_AUTO_TEST_CASE(without_the_right_to_write_only_the_session_is_closed) {
  hold("/e");
  forbidden_writes["/e"] = errc::no_auth;
  begin();
  finish();
  BOOST_TEST(!has_died("/e"));
  BOOST_TEST((result->error == errc::no_auth));
  BOOST_TEST(result->is_closed);
  BOOST_TEST(result->passed_over == 1u);
}

BOOST_AUTO_TEST_CASE(without_the_right_to_read_only_the_session_is_closed) {
  hold("/e");
  begin();
  take_up();
  serve();
  refuse(errc::no_auth);
  serve();
  CHECK_ASKED();
  BOOST_TEST(last().closing);
  finish();
  BOOST_TEST((result->error == errc::no_auth));
  BOOST_TEST(result->is_closed);
}

BOOST_AUTO_TEST_CASE(one_record_that_may_not_be_written_does_not_keep_the_others_from_it) {
  for (std::string path : {"/a", "/b", "/c"}) hold(path);
  forbidden_writes["/b"] = errc::no_auth;
  begin();
  finish();
  BOOST_TEST(has_died("/a"));
  BOOST_TEST(!has_died("/b"));
  BOOST_TEST(has_died("/c"));
  BOOST_TEST(result->died == 2u);
  BOOST_TEST(result->passed_over == 1u);
  BOOST_TEST((result->error == errc::no_auth));
}

BOOST_AUTO_TEST_CASE(refused_credentials_are_left_out) {
  what.digest = {{"app", "secret"}};
  begin();
  lose(errc::auth_failed);
  advance(1s);
  BOOST_TEST(last().options.digest.empty());
  finish();
  BOOST_TEST(result->is_closed);
}

BOOST_AUTO_TEST_CASE(a_server_that_refuses_is_followed_by_the_next_at_once) {
  what.servers.push_back({"zk2", 2181});
  hold("/e");
  begin();
  const auto first = last().options.server;
  lose(make_error_code(boost::system::errc::connection_refused));
  BOOST_TEST_REQUIRE(state().connections.size() == 2u);
  BOOST_TEST((last().options.server != first));
  finish();
  BOOST_TEST(has_died("/e"));
}

BOOST_AUTO_TEST_CASE(a_server_that_is_silent_is_followed_by_the_next_after_a_second) {
  what.servers.push_back({"zk2", 2181});
  hold("/e");
  begin();
  const auto first = last().options.server;
  advance(900ms);
  BOOST_TEST(state().connections.size() == 1u);
  advance(200ms);
  BOOST_TEST_REQUIRE(state().connections.size() == 2u);
  BOOST_TEST(!state().connections[0]->open);
  BOOST_TEST((last().options.server != first));
  finish();
  BOOST_TEST(has_died("/e"));
}

BOOST_AUTO_TEST_CASE(a_server_that_falls_silent_is_followed_by_the_next_too) {
  what.servers.push_back({"zk2", 2181});
  hold("/e");
  begin();
  take_up();
  BOOST_TEST(last().pending.size() == 3u);
  advance(1100ms);
  BOOST_TEST_REQUIRE(state().connections.size() == 2u);
  finish();
  BOOST_TEST(has_died("/e"));
  BOOST_TEST(result->died == 1u);
}

BOOST_AUTO_TEST_CASE(a_slow_server_is_given_more_time_in_each_round) {
  begin();
  advance(1100ms);
  const auto second = state().connections.size();
  BOOST_TEST_REQUIRE(second == 2u);
  advance(1800ms);
  BOOST_TEST(state().connections.size() == second);
  advance(400ms);
  BOOST_TEST(state().connections.size() == second + 1);
  finish();
}

BOOST_AUTO_TEST_CASE(servers_that_are_too_slow_for_the_records_for_half_of_the_time_close_the_session) {
  hold("/e");
  begin(60s);
  for (; !last().closing && now() < lease_clock::time_point(2h); advance(500ms)) {
    if (last().open && !is_taken_up.contains(&last())) take_up();
  }
  BOOST_TEST((now() - lease_clock::time_point(1h) >= 30s));
  finish();
  BOOST_TEST(!has_died("/e"));
  BOOST_TEST((result->error == errc::server_error));
}

BOOST_AUTO_TEST_CASE(the_deadline_ends_everything) {
  hold("/e");
  begin(5s);
  advance(4900ms);
  BOOST_TEST(!result.has_value());
  advance(100ms);
  BOOST_TEST_REQUIRE(result.has_value());
  BOOST_TEST((result->error == errc::timed_out));
  BOOST_TEST(!result->is_closed);
  BOOST_TEST(!last().open);
  BOOST_TEST(state().timers.empty());
}

BOOST_AUTO_TEST_CASE(names_that_do_not_resolve_are_asked_for_until_the_deadline) {
  state().resolver_hangs = true;
  begin(5s);
  advance(5s);
  BOOST_TEST_REQUIRE(result.has_value());
  BOOST_TEST((result->error == errc::timed_out));
  BOOST_TEST(state().connections.empty());
}

BOOST_AUTO_TEST_CASE(names_that_resolve_later_are_used) {
  state().resolved["zk1"] = {};
  begin();
  BOOST_TEST(state().connections.empty());
  state().resolved["zk1"] = {{"10.0.0.7", 2181}};
  advance(3s);
  BOOST_TEST_REQUIRE(!state().connections.empty());
  finish();
  BOOST_TEST(result->is_closed);
}

BOOST_AUTO_TEST_CASE(it_can_be_cancelled_at_each_step) {
  for (int steps = 0; steps < 4; ++steps) {
    dead_process each;
    each.hold("/e");
    each.begin();
    if (steps > 0) each.take_up();
    if (steps > 1) each.serve_all();
    if (steps > 2) each.serve();
    BOOST_TEST(!each.result.has_value(), steps);
    each.signal.emit(boost::asio::cancellation_type::terminal);
    each.settle();
    BOOST_TEST_REQUIRE(each.result.has_value(), steps);
    BOOST_TEST((each.result->error == boost::asio::error::operation_aborted), steps);
    BOOST_TEST(!each.last().open, steps);
    BOOST_TEST(each.state().timers.empty(), steps);
  }
}

BOOST_AUTO_TEST_CASE(a_context_that_ends_meanwhile_leaves_nothing_behind) {
  hold("/e");
  begin();
  take_up();
  on.reset();
  signal.slot().clear();  // its handler has an executor of the context, which is to go last
  destroy_context();
  BOOST_TEST(!result.has_value());
  BOOST_TEST(!last().open);
}

BOOST_AUTO_TEST_SUITE_END()
