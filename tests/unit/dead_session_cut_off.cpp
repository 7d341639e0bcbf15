// A guardian that ends while it ends the session of a dead process, at each step. The records are right whatever comes
// next: nobody, another guardian, or a successor and then another guardian.
#include <algorithm>
#include <string>

#include <boost/test/unit_test.hpp>

#include "unit/dead_process.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

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
