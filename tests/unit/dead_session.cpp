// The end of a dead process's session: what is written, and what never is. `dead_session_trouble.cpp` has the faults.
#include <string>

#include <boost/test/unit_test.hpp>

#include "unit/dead_process.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(dead_sessions, dead_process)

BOOST_AUTO_TEST_CASE(the_record_is_written_the_seat_removed_and_the_session_closed) {
  hold("/e");
  begin();
  BOOST_TEST(last().options.key.id == session_id);
  BOOST_TEST(last().options.key.password == "secret");
  take_up();
  CHECK_ASKED("multi /", "get /e", "exists /e/n1");
  BOOST_TEST(next_writes().size() == 1u);
  BOOST_TEST((next_writes()[0].type == operation::kind::check), "a catch-up, so that the reads behind it are no older");
  serve_all();
  CHECK_ASKED("multi /");
  const auto sent = next_writes();
  BOOST_TEST_REQUIRE(sent.size() == 3u);
  BOOST_TEST((sent[0].type == operation::kind::set && sent[1].type == operation::kind::set));
  BOOST_TEST(sent[0].version == 5);
  BOOST_TEST(sent[1].version == 6);
  BOOST_TEST(sent[0].data == sent[1].data);
  BOOST_TEST((sent[2].type == operation::kind::remove));
  BOOST_TEST(sent[2].path == "/e/n1");
  BOOST_TEST(!last().closing, "the answer would be lost");
  serve();
  BOOST_TEST(has_died("/e"));
  BOOST_TEST((record_at("/e").died_in == term_phase::executing));
  BOOST_TEST(record_at("/e").epoch == 3);
  BOOST_TEST(!nodes.contains("/e/n1"));
  close();
  advance(100ms);
  BOOST_TEST(!result.has_value(), "it is not certain yet that the server has got the request");
  take_up();
  BOOST_TEST_REQUIRE(result.has_value());
  BOOST_TEST(!result->error, result->error.message());
  BOOST_TEST(result->is_closed);
  BOOST_TEST(result->died == 1u);
  BOOST_TEST(result->passed_over == 0u);
  BOOST_TEST(state().timers.empty());
}

BOOST_AUTO_TEST_CASE(a_session_without_terms_is_closed_without_a_request) {
  begin();
  take_up();
  CHECK_ASKED();
  BOOST_TEST(last().closing);
  finish();
  BOOST_TEST(!result->error, result->error.message());
  BOOST_TEST(writes == 0);
}

BOOST_AUTO_TEST_CASE(nothing_is_written_if_the_session_is_over) {
  hold("/e");
  is_alive = false;
  begin();
  take_up();
  BOOST_TEST_REQUIRE(result.has_value());
  BOOST_TEST((result->error == errc::session_expired));
  BOOST_TEST(result->is_closed);
  BOOST_TEST(result->died == 0u);
  BOOST_TEST(state().connections.size() == 1u);
  BOOST_TEST(!has_died("/e"));
}

BOOST_AUTO_TEST_CASE(a_session_that_is_granted_instead_is_closed_and_nothing_written) {
  hold("/e");
  begin();
  accept(0x99);
  CHECK_ASKED();
  BOOST_TEST(last().closing);
  lose(errc::closed);
  BOOST_TEST_REQUIRE(result.has_value());
  BOOST_TEST((result->error == errc::session_expired));
  BOOST_TEST(result->died == 0u);
  BOOST_TEST(state().connections.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_leader_that_was_handing_over_gets_two_writes) {
  hold("/e", term_phase::handing_over);
  begin();
  finish();
  BOOST_TEST(has_died("/e"));
  BOOST_TEST((record_at("/e").died_in == term_phase::handing_over));
  BOOST_TEST(nodes.at("/e").version == 7, "a candidate takes version 6 for `retired`");
}

BOOST_AUTO_TEST_CASE(the_record_of_a_successor_is_left_alone) {
  auto next = hold("/e");
  next.epoch = 4;
  next.leader_node = "n2";
  nodes["/e"].data = detail::serialize(next);
  begin();
  finish();
  BOOST_TEST(writes == 0);
  BOOST_TEST(record_at("/e").leader_node == "n2");
  BOOST_TEST(!result->error, result->error.message());
  BOOST_TEST(result->died == 0u);
  BOOST_TEST(result->passed_over == 1u);
}

BOOST_AUTO_TEST_CASE(a_record_that_is_finished_unknown_or_none_is_left_alone) {
  for (auto phase : {term_phase::retired, term_phase::stalled, term_phase::died})
    hold(std::string("/") + to_string(phase), phase);
  hold("/later");
  auto& later = nodes["/later"].data;
  later.replace(later.find("executing"), 9, "draining");
  hold("/foreign");
  nodes["/foreign"].data = "127.0.0.1";
  hold("/empty");
  nodes["/empty"].data = "";
  hold("/gone");
  nodes.erase("/gone");
  hold("/good");
  const auto before = nodes;
  begin();
  finish();
  BOOST_TEST(result->died == 1u);
  BOOST_TEST(result->passed_over == 7u);
  BOOST_TEST(!result->error, result->error.message());
  for (const auto& [path, each] : before) {
    if (each.owner == 0 && path != "/good") BOOST_TEST(nodes.at(path).version == each.version, path);
  }
  BOOST_TEST(has_died("/good"));
}

BOOST_AUTO_TEST_CASE(many_terms_are_written_in_transactions_of_bounded_size_that_do_not_wait_for_each_other) {
  for (int i = 0; i < 1000; ++i) {
    const auto path = "/g/" + std::to_string(i);
    auto record = hold(path);
    record.leader_node = "member#" + std::to_string(i);
    nodes[path].data = detail::serialize(record);
    what.terms.back() = {path, record.leader_node, "/g/member"};
    nodes.erase(path + "/n1");
  }
  nodes["/g/member"] = {"", 0, session_id};
  begin();
  take_up();
  BOOST_TEST(last().pending.size() == 1002u, "the catch-up, 1000 records, and one seat");
  serve_all();
  BOOST_TEST(last().pending.size() == 11u);
  std::size_t operations = 0;
  for (const auto& [asked, handler] : last().pending) {
    BOOST_TEST(asked.operations.size() <= 200u);
    operations += asked.operations.size();
  }
  BOOST_TEST(operations == 2001u);
  BOOST_TEST(last().pending.back().first.operations.back().path == "/g/member", "the seat goes last");
  finish();
  BOOST_TEST(result->died == 1000u);
  BOOST_TEST(has_died("/g/0"));
  BOOST_TEST(has_died("/g/999"));
}

BOOST_AUTO_TEST_CASE(large_records_make_small_transactions_and_one_that_can_not_be_written_twice_is_left) {
  for (std::string path : {"/a", "/b", "/huge"}) {
    auto record = hold(path);
    record.notes.set("in_hand", std::string(path == "/huge" ? 600'000 : 150'000, 'x'));
    nodes[path].data = detail::serialize(record);
  }
  begin();
  take_up();
  serve_all();
  CHECK_ASKED("multi /", "multi /");
  finish();
  BOOST_TEST(result->died == 2u);
  BOOST_TEST(result->passed_over == 1u);
  BOOST_TEST(!has_died("/huge"));
}

/// A peer tells what it likes: a leader that lives keeps its term.
BOOST_AUTO_TEST_CASE(the_record_of_a_leader_of_another_session_is_left_alone) {
  hold("/e");
  nodes["/e/n1"].owner = 0x88;
  begin();
  finish();
  BOOST_TEST(!has_died("/e"));
  BOOST_TEST(nodes.contains("/e/n1"));
  BOOST_TEST(result->died == 0u);
  BOOST_TEST(result->passed_over == 1u);
  BOOST_TEST(writes == 0);
}

/// It may have been that of a leader that lives and is about to hand over.
BOOST_AUTO_TEST_CASE(the_record_of_a_leader_whose_node_has_gone_is_left_alone) {
  hold("/e");
  nodes.erase("/e/n1");
  begin();
  finish();
  BOOST_TEST(!has_died("/e"));
  BOOST_TEST(result->passed_over == 1u);
}

BOOST_AUTO_TEST_CASE(a_seat_that_is_not_the_leaders_node_proves_nothing) {
  for (const std::string seat : {"/e/n", "/e/n11", "/e/n2", "/mine", ""}) {
    hold("/e" + seat);
    what.terms.back().seat_path = seat;
    if (!seat.empty()) nodes[seat] = {"", 0, session_id};
  }
  begin();
  finish();
  BOOST_TEST(writes == 0);
  BOOST_TEST(result->died == 0u);
  BOOST_TEST(result->passed_over == 5u);
}

BOOST_AUTO_TEST_CASE(the_credentials_and_the_addresses_of_the_names_are_used) {
  what.digest = {{"app", "secret"}};
  state().resolved["zk1"] = {{"10.0.0.7", 2182}};
  begin();
  BOOST_TEST((last().options.server == backend::endpoint{"10.0.0.7", 2182}));
  BOOST_TEST_REQUIRE(last().options.digest.size() == 1u);
  BOOST_TEST(last().options.digest[0].user == "app");
  finish();
}

BOOST_AUTO_TEST_SUITE_END()
