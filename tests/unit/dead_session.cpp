// The end of a dead process's session: what is written, and what never is. `dead_session_trouble.cpp` has the faults.
#include <algorithm>
#include <string>

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

// A guardian that ends while it ends the session of a dead process, at each step. The records are right whatever comes
// next: nobody, another guardian, or a successor and then another guardian.
namespace {

const std::string path_of_record = "/e";
constexpr std::int32_t version_of_living = 5;

/// When a guardian ends: after so many steps, each of which is an answer of the server.
struct cut {
  int steps = 0;
  std::size_t executed = 0;  ///< Requests that the server executes although nobody waits for the answer any more.
};

/// The dead process with one term, and its guardian, which goes on until it is cut off.
struct cut_off : dead_process {
  explicit cut_off(term_phase phase = term_phase::executing) : alive(hold(path_of_record, phase)) { begin(); }

  /// One answer. False: the ending is complete.
  bool step() {
    for (int i = 0; i < 100 && !result; ++i) {
      auto& present = last();
      if (present.open && present.closing) return close(), true;
      if (present.open && !present.pending.empty()) return serve(), true;
      if (present.open && !is_taken_up.contains(&present)) return take_up(), true;
      advance(10ms);
    }
    return false;
  }
  /// True: the guardian has ended before it was done. What it has sent is executed as far as it got there, in order.
  bool end_guardian(const cut& when) {
    for (int i = 0; i < when.steps; ++i) {
      if (!step()) return false;
    }
    if (result) return false;
    const auto sent = last().pending;
    const bool wants_close = last().open && last().closing;
    signal.emit(asio::cancellation_type::terminal);
    settle();
    BOOST_TEST_REQUIRE(result.has_value());
    BOOST_TEST((result->error == asio::error::operation_aborted));
    if (when.executed > sent.size() + wants_close) return false;
    for (std::size_t i = 0; i < std::min(when.executed, sent.size()); ++i) execute(sent[i].first);
    if (when.executed > sent.size()) expire();
    return true;
  }
  /// The session has ended, by its time-out or because it was closed.
  void expire() {
    is_alive = false;
    std::erase_if(nodes, [](const auto& each) { return each.second.owner == session_id; });
  }
  /// Another guardian that has been told the same. It finds its way to the end.
  void begin_again() {
    result.reset();
    begin();
    finish();
    BOOST_TEST(result->is_closed);
    BOOST_TEST(!is_alive);
    BOOST_TEST(!nodes.contains(path_of_record + "/n1"));
  }
  /// What a successor does that was the next in line.
  void begin_successor() {
    auto next = record_at(path_of_record);
    next.epoch = 4;
    next.phase = term_phase::executing;
    next.leader_id = "heir";
    next.leader_node = "n2";
    nodes[path_of_record].data = detail::serialize(next);
    ++nodes[path_of_record].version;
    successor = nodes[path_of_record];
  }
  /// The record is as the process has left it, or says that its leader has died: by both writes, or by none.
  void check_record() {
    const auto& present = nodes.at(path_of_record);
    if (present.version == version_of_living) {
      BOOST_TEST(present.data == detail::serialize(alive), "a successor waits for the time-out and the deadline");
    } else {
      BOOST_TEST(present.version == version_of_living + 2);
      check_death();
    }
  }
  void check_death() {
    const auto died = record_at(path_of_record);
    BOOST_TEST((died.phase == term_phase::died));
    BOOST_TEST((died.died_in == alive.phase));
    BOOST_TEST(died.leader_node == "n1");
    BOOST_TEST(died.epoch == alive.epoch);
  }

  detail::term_record alive;
  node successor;
};

/// Calls this for each way to be cut off. It returns whether there was one: false ends the steps, or the executed
/// requests of this step.
template <class Body>
void at_each_cut(Body body) {
  int cuts = 0;
  for (int steps = 0; steps < 100; ++steps) {
    std::size_t executed = 0;
    BOOST_TEST_CONTEXT("after " << steps << " steps") {
      while (body(cut{steps, executed})) ++executed;
    }
    if (executed == 0) break;
    cuts += static_cast<int>(executed);
  }
  BOOST_TEST(cuts >= 12, "taken up, caught up, read twice, written, closed; with and without what was under way");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(dead_sessions_cut_off)

BOOST_AUTO_TEST_CASE(nobody_goes_on) {
  int written = 0, unwritten = 0;
  at_each_cut([&](const cut& when) {
    cut_off each;
    if (!each.end_guardian(when)) return false;
    each.check_record();
    each.expire();
    each.check_record();
    ++(each.has_died(path_of_record) ? written : unwritten);
    return true;
  });
  BOOST_TEST(written > 0);
  BOOST_TEST(unwritten > 0);
}

BOOST_AUTO_TEST_CASE(another_guardian_goes_on) {
  at_each_cut([](const cut& when) {
    cut_off each;
    if (!each.end_guardian(when)) return false;
    const bool is_over = !each.is_alive;
    each.begin_again();
    each.check_record();
    each.check_death();
    BOOST_TEST(each.nodes.at(path_of_record).version == version_of_living + 2, "written once");
    BOOST_TEST((each.result->error == (is_over ? make_error_code(errc::session_expired) : error_code())));
    return true;
  });
}

BOOST_AUTO_TEST_CASE(another_guardian_finds_the_session_timed_out_and_writes_nothing) {
  at_each_cut([](const cut& when) {
    cut_off each;
    if (!each.end_guardian(when)) return false;
    each.expire();
    const auto before = each.nodes.at(path_of_record);
    each.begin_again();
    BOOST_TEST(each.nodes.at(path_of_record).data == before.data);
    BOOST_TEST(each.nodes.at(path_of_record).version == before.version);
    BOOST_TEST((each.result->error == errc::session_expired));
    BOOST_TEST(each.result->died == 0u);
    return true;
  });
}

BOOST_AUTO_TEST_CASE(a_successor_has_begun_before_another_guardian_goes_on) {
  for (const auto phase : {term_phase::executing, term_phase::handing_over}) {
    at_each_cut([&](const cut& when) {
      cut_off each(phase);
      if (!each.end_guardian(when)) return false;
      each.begin_successor();
      each.begin_again();
      BOOST_TEST(each.nodes.at(path_of_record).data == each.successor.data);
      BOOST_TEST(each.nodes.at(path_of_record).version == each.successor.version);
      BOOST_TEST(each.result->died == 0u);
      return true;
    });
  }
}

/// The requests of the first guardian are slow, and arrive after a successor has begun.
BOOST_AUTO_TEST_CASE(what_was_under_way_arrives_after_a_successor_has_begun) {
  int late = 0;
  for (int steps = 0; steps < 100; ++steps) {
    cut_off each;
    bool is_complete = false;
    for (int i = 0; i < steps && !is_complete; ++i) is_complete = !each.step();
    if (is_complete || each.result) break;
    const auto sent = each.last().pending;
    each.signal.emit(asio::cancellation_type::terminal);
    each.settle();
    each.begin_successor();
    for (const auto& [request, handler] : sent) {
      const auto done = each.execute(request);
      if (request.operations.size() < 2) continue;  // a read, or the catch-up
      BOOST_TEST((done.error == errc::bad_version));
      ++late;
    }
    BOOST_TEST(each.nodes.at(path_of_record).data == each.successor.data, steps);
    BOOST_TEST(each.nodes.at(path_of_record).version == each.successor.version, steps);
  }
  BOOST_TEST(late > 0);
}

BOOST_AUTO_TEST_CASE(two_guardians_at_once_write_the_record_once) {
  at_each_cut([](const cut& when) {
    cut_off each;
    for (int i = 0; i < when.steps; ++i) {
      if (!each.step()) return false;
    }
    if (each.result) return false;
    const auto sent = each.last().pending;
    if (when.executed > sent.size()) return false;
    for (std::size_t i = 0; i < when.executed; ++i) each.execute(sent[i].first);
    dead_process second;  // while the first one waits for its answers
    second.what = each.what;
    second.nodes = each.nodes;
    second.is_alive = each.is_alive;
    second.begin();
    second.finish();
    each.nodes = second.nodes;
    each.is_alive = second.is_alive;
    if (each.last().open) each.lose();
    each.finish();
    each.check_record();
    each.check_death();
    return true;
  });
}

BOOST_AUTO_TEST_SUITE_END()
