// A take-over behind a leader whose process has died, as the record says: it does not wait for the hand-over deadline.
#include <stdexcept>
#include <string>
#include <vector>

#include "career/term_service.hpp"
#include "election/term_record.hpp"
#include "notes/consumer_notes.hpp"
#include "unit/coordinating.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct declaring_career : quiet_career {
  career_traits traits() const override { return {.hand_over_deadline = 5s, .aftermath = after}; }
  std::chrono::milliseconds after{0};
};

/// The record that a coordinator with this aftermath begins its term with.
detail::term_record declared(std::chrono::milliseconds after) {
  declaring_career career;
  career.after = after;
  fake_session at;
  at.connect();
  consumer_coordinator mine(at.zk, "/e", {"me"});
  auto running = mine.async_run(career, at.begun());
  std::string own;
  while (!at.last().pending.empty() && at.pending().front() != "multi /") {
    const auto& asked = at.last().pending.front().first;
    backend::reply reply;
    if (asked.op == backend::opcode::create) {
      own = asked.path.substr(3) + "0000000007";
      reply.path = "/e/" + own;
    } else if (asked.op == backend::opcode::children) {
      reply.children = {own};
    }
    reply.stat.ephemeral_owner = 0x77;
    at.answer(std::move(reply));
  }
  BOOST_TEST_REQUIRE(!at.last().pending.empty());
  auto record = detail::parse_record(at.last().pending.front().first.operations.front().data);
  BOOST_TEST_REQUIRE(record.has_value());
  return *record;
}

/// The record of a term whose leader has gone, with a deadline of five seconds.
struct after_death : working {
  after_death() {
    before.epoch = 3;
    before.phase = term_phase::executing;
    before.hand_over_deadline = 5s;
    before.leader_node = "gone";
    before.unknown_fields.set("later", std::int64_t(9));
  }
  /// The leader has died in its present phase.
  void die() { data = detail::record_of_death(detail::serialize(before)).value(); }
  /// Lets time pass, at most this long, until a transaction is to be answered. How long it took.
  std::chrono::milliseconds pass_until_transaction(std::chrono::milliseconds most) {
    const auto since = now();
    serve_until("multi /");
    while (next_request() != "multi /" && now() < since + most) {
      advance(100ms);
      serve_until("multi /");
    }
    return std::chrono::duration_cast<std::chrono::milliseconds>(now() - since);
  }
  const std::vector<operation>& writes() {
    BOOST_TEST_REQUIRE(next_request() == "multi /");
    return last().pending.front().first.operations;
  }
  /// The record of the term that is to begin, by one write.
  detail::term_record next() {
    BOOST_TEST_REQUIRE(writes().size() == 2u, "the record, and the check of our own node");
    auto record = detail::parse_record(writes().front().data);
    BOOST_TEST_REQUIRE(record.has_value());
    return *record;
  }

  detail::term_record before;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(take_over_died, after_death)

BOOST_AUTO_TEST_CASE(the_deadline_is_not_waited_for) {
  die();
  serve_until("multi /");
  const auto record = next();
  BOOST_TEST((record.how == takeover::died));
  BOOST_TEST((record.phase == term_phase::inaugurating));
  BOOST_TEST((record.died_in == term_phase::none));
  BOOST_TEST(record.epoch == 4);
  BOOST_TEST(detail::read_notes(record.notes).crashes == 1);
  BOOST_TEST(writes().front().version == 0);
}

BOOST_AUTO_TEST_CASE(nor_by_a_successor_that_has_to_look_again) {
  die();
  serve_until("multi /");
  fail(errc::bad_version);
  BOOST_TEST_REQUIRE(next_request() == "get /e");
  serve();
  BOOST_TEST((next().how == takeover::died));
}

BOOST_AUTO_TEST_CASE(a_successor_that_waits_for_the_deadline_hears_of_the_death) {
  data = detail::serialize(before);
  BOOST_TEST((pass_until_transaction(1s) == 1s), "it waits");
  BOOST_TEST(next_request() == "");
  die();
  fire(backend::change::data, "/e");
  BOOST_TEST((pass_until_transaction(1s) == 0s));
  BOOST_TEST((next().how == takeover::died));
}

BOOST_AUTO_TEST_CASE(the_aftermath_is_waited_for) {
  before.aftermath = 2s;
  die();
  BOOST_TEST((pass_until_transaction(10s) == 2s));
  BOOST_TEST((next().how == takeover::died));
}

BOOST_AUTO_TEST_CASE(the_wait_for_the_aftermath_is_shown) {
  before.aftermath = 2s;
  die();
  serve_until("get /e");  // our own node has been created
  serve_until("set /e/" + own);
  BOOST_TEST_REQUIRE(next_request() == "set /e/" + own);
  BOOST_TEST(detail::is_awaiting(last().pending.front().first.data));
}

BOOST_AUTO_TEST_CASE(the_aftermath_counts_from_the_first_look) {
  before.aftermath = 2s;
  die();
  BOOST_TEST((pass_until_transaction(1s) == 1s));
  fire(backend::change::data, "/e");
  BOOST_TEST_REQUIRE(next_request() == "get /e");
  BOOST_TEST((pass_until_transaction(10s) == 1s));
  BOOST_TEST((next().how == takeover::died));
}

BOOST_AUTO_TEST_CASE(the_aftermath_of_a_leader_that_is_gone_without_a_word_is_part_of_its_deadline) {
  before.aftermath = 9s;
  data = detail::serialize(before);
  BOOST_TEST((pass_until_transaction(20s) == 5s));
  BOOST_TEST_REQUIRE(writes().size() == 3u);
  BOOST_TEST((detail::parse_record(writes().front().data)->how == takeover::forced));
}

// A guess by what was last seen: the write of `retired` is one version, that of `died` two.
BOOST_AUTO_TEST_CASE(a_leader_that_was_seen_handing_over_and_died_is_not_taken_for_retired) {
  before.phase = term_phase::handing_over;
  data = detail::serialize(before);
  serve_until("multi /");
  BOOST_TEST((next().how == takeover::clean));
  BOOST_TEST(writes().front().version == 1);
  die();  // two versions further
  fail(errc::bad_version);
  BOOST_TEST_REQUIRE(next_request() == "get /e");
  serve();
  BOOST_TEST((next().how == takeover::died));
  BOOST_TEST(detail::read_notes(next().notes).crashes == 1);
}

BOOST_AUTO_TEST_CASE(a_death_at_work_counts_as_a_crash_and_one_before_it_does_not) {
  for (auto phase : {term_phase::inaugurating, term_phase::executing, term_phase::handing_over}) {
    after_death each;
    each.before.phase = phase;
    detail::consumer_notes left;
    left.crashes = 4;
    left.in_hand = {"qn-0000000003"};
    left.limit_level = 7s;
    each.before.notes = detail::to_json(left);
    each.die();
    each.serve_until("multi /");
    const auto notes = detail::read_notes(each.next().notes);
    BOOST_TEST(notes.crashes == (phase == term_phase::inaugurating ? 4 : 5), to_string(phase));
    BOOST_TEST(notes.in_hand == strings{"qn-0000000003"}, boost::test_tools::per_element());
    BOOST_TEST(!notes.limit_level.has_value(), "it may have used all of it");
  }
}

BOOST_AUTO_TEST_CASE(unknown_fields_are_kept) {
  die();
  serve_until("multi /");
  BOOST_TEST(next().unknown_fields.raw("later") == "9");
}

// The servers refuse what it sends by the version that it knew; it must not go on by the new one.
BOOST_AUTO_TEST_CASE(a_term_that_finds_itself_declared_dead_is_over_and_writes_nothing_more) {
  serve_until("multi /");
  backend::reply seen;
  seen.stat.version = 7;
  seen.data = detail::record_of_death(writes().front().data).value();
  serve();
  BOOST_TEST_REQUIRE(next_request() == "multi /", "the phase `executing`");
  fail(errc::bad_version);
  BOOST_TEST_REQUIRE(next_request() == "get /e");
  const auto since = now();
  for (; now() < since + 2s && entries == 1; advance(100ms)) {
    while (!last().pending.empty() && entries == 1) {
      const auto& asked = last().pending.front().first;
      if (asked.op == backend::opcode::multi && asked.operations.front().path == "/e") {
        BOOST_TEST(asked.operations.front().version < 7);
        fail(errc::bad_version);
      } else if (asked.op == backend::opcode::get && asked.path == "/e") {
        answer(seen);
      } else {
        serve();
      }
    }
  }
  BOOST_TEST(entries == 2, "it campaigns again");
  BOOST_TEST(!running.done());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(aftermaths)

BOOST_AUTO_TEST_CASE(the_leader_declares_its_own) {
  for (auto after : {0ms, 1500ms}) {
    const auto written = declared(after);
    BOOST_TEST((written.aftermath == after));
    BOOST_TEST((written.hand_over_deadline == 5s));
  }
}

BOOST_AUTO_TEST_CASE(one_out_of_bounds_is_refused) {
  for (auto after : {std::chrono::milliseconds(-1), std::chrono::milliseconds(1h) + 1ms}) {
    declaring_career career;
    career.after = after;
    BOOST_CHECK_EXCEPTION(detail::traits_of(career), std::invalid_argument, [](const auto& problem) {
      return std::string(problem.what()).starts_with("career_traits::aftermath");
    });
  }
  declaring_career career;
  career.after = 1h;
  BOOST_TEST((detail::traits_of(career).aftermath == 1h));
}

BOOST_AUTO_TEST_SUITE_END()
