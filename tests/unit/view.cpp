// The view of an election, as computed from its nodes.
#include <zkrecipes/election.hpp>

#include "election/election.hpp"
#include "ensemble/print.hpp"
#include "line/line_spec.hpp"
#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;
using namespace zkrecipes::test;

namespace {

constexpr std::chrono::system_clock::time_point present{100s};

term_record record_of(const std::string& node, term_phase phase) {
  term_record record;
  record.epoch = 3;
  record.phase = phase;
  record.how = takeover::clean;
  record.hand_over_deadline = 8s;
  record.leader_id = "one";
  record.leader_node = node;
  return record;
}

struct election_case {
  election_case() {
    nodes.path = "/e";
    nodes.stat.mtime = 95'000;
    nodes.stat.mzxid = 50;
    add("n1", candidate_data("one", false), 11);
    add("n2", candidate_data("two", false), 12);
  }
  void add(std::string name, std::string data, std::int64_t czxid) {
    const auto session = 0x100 + czxid;
    candidate_node made{{member_id(data), std::move(name), czxid, 0, session}, std::move(data), {}};
    made.stat.czxid = made.stat.mzxid = czxid;
    made.stat.mtime = 97'000;
    made.stat.ephemeral_owner = session;
    nodes.candidates.push_back(std::move(made));
  }
  election_view view() {
    auto seen = interpret(nodes, present);
    BOOST_TEST_REQUIRE(seen.has_value());
    return *seen;
  }
  election_nodes nodes;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(views, election_case)

BOOST_AUTO_TEST_CASE(an_empty_election) {
  nodes.candidates.clear();
  auto seen = view();
  BOOST_TEST(seen.path == "/e");
  BOOST_TEST(seen.epoch == 0);
  BOOST_TEST((seen.phase == term_phase::none));
  BOOST_TEST(seen.leader == "");
  BOOST_TEST(!seen.how.has_value());
  BOOST_TEST(!seen.hand_over.has_value());
  BOOST_TEST(seen.candidates.empty());
}

BOOST_AUTO_TEST_CASE(the_message_that_stays_in_process_has_its_name) {
  auto record = record_of("n1", term_phase::executing);
  json_object figures;
  record.notes.set("figures", figures.set_flag("still", true));
  nodes.data = serialize(record);
  BOOST_TEST(view().is_still);
  BOOST_TEST(view().still_message == "", "as a version before writes it");
  const auto before = view().fingerprint;
  record.notes.set("figures", figures.set("still_message", "qn-0000000007"));
  nodes.data = serialize(record);
  nodes.stat.mzxid = 51;
  BOOST_TEST(view().still_message == "qn-0000000007");
  BOOST_TEST(view().fingerprint != before);
  record.leader_node = "n0";
  nodes.data = serialize(record);
  BOOST_TEST(view().still_message == "", "it is that of a leader who has gone");
}

BOOST_AUTO_TEST_CASE(data_of_somebody_else_is_no_view) {
  nodes.data = "127.0.0.1";
  BOOST_TEST(!interpret(nodes, present).has_value());
}

BOOST_AUTO_TEST_CASE(phases_of_a_leader) {
  for (auto phase : {term_phase::inaugurating, term_phase::executing, term_phase::handing_over}) {
    nodes.data = serialize(record_of("n1", phase));
    auto seen = view();
    BOOST_TEST_CONTEXT(to_string(phase)) {
      BOOST_TEST((seen.phase == phase));
      BOOST_TEST(seen.epoch == 3);
      BOOST_TEST(seen.leader == "one");
      BOOST_TEST(seen.leader_token == 11);
      BOOST_TEST((seen.how == takeover::clean));
      BOOST_TEST((seen.since.time_since_epoch() == 95s));
      BOOST_TEST(seen.hand_over.has_value() == (phase == term_phase::handing_over));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_phase_of_a_later_version_is_shown_as_unknown) {
  auto record = serialize(record_of("n1", term_phase::executing));
  record.replace(record.find("executing"), 9, "draining");
  nodes.data = record;
  auto seen = view();
  BOOST_TEST((seen.phase == term_phase::unknown));
  BOOST_TEST(seen.epoch == 3);
  BOOST_TEST(seen.leader == "one");
  BOOST_TEST(!seen.hand_over.has_value());
  nodes.candidates.erase(nodes.candidates.begin());
  seen = view();
  BOOST_TEST((seen.phase == term_phase::unknown));
  BOOST_TEST(seen.leader == "");
  BOOST_TEST_REQUIRE(seen.hand_over.has_value());
  BOOST_TEST(seen.hand_over->state == "awaiting", "the term is not finished");
}

BOOST_AUTO_TEST_CASE(candidates_in_order) {
  auto seen = view();
  BOOST_TEST_REQUIRE(seen.candidates.size() == 2u);
  BOOST_TEST(seen.candidates[0].id == "one");
  BOOST_TEST(seen.candidates[1].id == "two");
  BOOST_TEST(seen.candidates[1].node == "n2");
  BOOST_TEST(seen.candidates[1].position == 1);
  BOOST_TEST(seen.candidates[1].token == 12);
  BOOST_TEST(seen.candidates[1].session_id == 0x10c);
}

BOOST_AUTO_TEST_CASE(a_hand_over_that_the_leader_finishes) {
  nodes.data = serialize(record_of("n1", term_phase::handing_over));
  auto seen = view();
  BOOST_TEST_REQUIRE(seen.hand_over.has_value());
  BOOST_TEST(seen.hand_over->state == "finishing");
  BOOST_TEST(seen.hand_over->from == "one");
  BOOST_TEST(seen.hand_over->to == "two");
  BOOST_TEST((seen.hand_over->elapsed == 5s));
  BOOST_TEST((seen.hand_over->deadline == 8s));
  nodes.candidates.pop_back();
  BOOST_TEST(view().hand_over->to == "");
}

BOOST_AUTO_TEST_CASE(a_hand_over_that_the_successor_waits_for) {
  nodes.data = serialize(record_of("n0", term_phase::executing));
  nodes.candidates[0].data = candidate_data("one", true);
  auto seen = view();
  BOOST_TEST_REQUIRE(seen.hand_over.has_value());
  BOOST_TEST(seen.hand_over->state == "awaiting");
  BOOST_TEST(seen.hand_over->from == "one");
  BOOST_TEST(seen.hand_over->to == "one");
  BOOST_TEST((seen.hand_over->elapsed == 3s));
  BOOST_TEST(seen.leader == "");                            // the candidate does not lead yet
  nodes.candidates[0].data = candidate_data("one", false);  // the candidate has not begun to wait
  BOOST_TEST((view().hand_over->elapsed == 0s));
}

BOOST_AUTO_TEST_CASE(a_successor_that_waits_for_the_aftermath_of_a_dead_leader) {
  auto record = record_of("n0", term_phase::died);
  record.aftermath = 4s;
  nodes.data = serialize(record);
  nodes.candidates[0].data = candidate_data("one", true);
  const auto seen = view();
  BOOST_TEST((seen.phase == term_phase::died));
  BOOST_TEST_REQUIRE(seen.hand_over.has_value());
  BOOST_TEST(seen.hand_over->state == "awaiting");
  BOOST_TEST((seen.hand_over->elapsed == 3s));
  BOOST_TEST((seen.hand_over->deadline == 4s));
}

BOOST_AUTO_TEST_CASE(clocks_that_differ_make_no_negative_time) {
  nodes.data = serialize(record_of("n1", term_phase::handing_over));
  nodes.stat.mtime = 200'000;
  BOOST_TEST((view().hand_over->elapsed == 0s));
}

BOOST_AUTO_TEST_CASE(a_request_to_resign_is_seen_with_its_age) {
  nodes.data = serialize(record_of("n1", term_phase::executing));
  BOOST_TEST(!view().resignation_asked.has_value());
  nodes.candidates[0].data = with_revocation(nodes.candidates[0].data);
  BOOST_TEST((view().resignation_asked == 3s));
  nodes.candidates[0].stat.mtime = 200'000;
  BOOST_TEST((view().resignation_asked == 0s));
  nodes.candidates[0].data = candidate_data("one", false);
  nodes.candidates[1].data = with_revocation(nodes.candidates[1].data);
  BOOST_TEST(!view().resignation_asked.has_value());
}

BOOST_AUTO_TEST_CASE(between_two_terms_nobody_leads) {
  for (auto phase : {term_phase::retired, term_phase::stalled, term_phase::died}) {
    nodes.data = serialize(record_of("n0", phase));
    auto seen = view();
    BOOST_TEST((seen.phase == phase));
    BOOST_TEST(seen.leader == "");
    BOOST_TEST(seen.leader_token == 0);
    BOOST_TEST(!seen.hand_over.has_value());
  }
}

BOOST_AUTO_TEST_CASE(a_foreign_client_leads_without_a_record) {
  nodes.data = serialize(record_of("n0", term_phase::retired));
  nodes.candidates[0].data = nodes.candidates[0].facts.id = "curator-1";
  auto seen = view();
  BOOST_TEST(seen.leader == "curator-1");
  BOOST_TEST(seen.leader_token == 11);
  BOOST_TEST((seen.phase == term_phase::none));
  BOOST_TEST((seen.recorded_phase == term_phase::retired));
  BOOST_TEST(!seen.how.has_value());
  BOOST_TEST(seen.epoch == 3);
}

BOOST_AUTO_TEST_CASE(the_fingerprint_tells_every_change_but_that_of_the_time) {
  nodes.data = serialize(record_of("n1", term_phase::executing));
  const auto before = view().fingerprint;
  BOOST_TEST(interpret(nodes, present + 5s)->fingerprint == before);
  auto changed = [&](auto change) {
    auto kept = nodes;
    change();
    const bool differs = view().fingerprint != before;
    nodes = kept;
    return differs;
  };
  BOOST_TEST(changed([&] { nodes.stat.mzxid = 51; }));
  BOOST_TEST(changed([&] { nodes.candidates.pop_back(); }));
  BOOST_TEST(changed([&] { nodes.candidates[0].stat.mzxid = 60; }));
  BOOST_TEST(changed([&] { add("n3", "three", 13); }));
  BOOST_TEST(changed([&] { std::swap(nodes.candidates[0], nodes.candidates[1]); }));
}

BOOST_AUTO_TEST_CASE(a_look_waits_for_a_connection_as_long_as_the_session_retries) {
  auto options = fake_session::usual();
  options.retry.limit = 2s;
  fake_session it(options);
  election seen(it.zk, "/e", {.id = "a"});
  auto viewing = seen.async_view(it.recorded());
  auto asking = seen.async_request_resignation(it.recorded());
  auto watching = seen.async_view_change(election_view(), it.begun());
  it.advance(1900ms);
  BOOST_TEST(!viewing.done());
  BOOST_TEST(!asking.done());
  it.advance(200ms);
  BOOST_TEST_REQUIRE(ended_with(viewing, errc::connection_loss));
  BOOST_TEST_REQUIRE(ended_with(asking, errc::connection_loss));
  BOOST_TEST(!watching.done());
}

BOOST_AUTO_TEST_CASE(a_missing_path_is_waited_for_across_a_lost_connection) {
  auto options = fake_session::usual();
  options.retry.limit = 2s;
  fake_session it(options);
  it.connect();
  election seen(it.zk, "/e", {.id = "a"});
  auto watching = seen.async_view_change(election_view(), it.begun());
  while (!it.pending().empty() && !it.pending().front().starts_with("exists ")) it.fail(errc::no_node);
  CHECK_PENDING_OF(it, "exists /e");
  it.lose();
  it.advance(3s);
  BOOST_TEST(!watching.done());
}

// The list names a first candidate that has gone when it is read, again and again. The next one, of whom only the name
// and the token are known, is read then, as each first candidate is.
BOOST_AUTO_TEST_CASE(the_first_candidate_that_is_left_is_read_although_it_is_known) {
  fake_session it;
  it.connect();
  const std::string gone = "_c_11111111-1111-1111-1111-111111111111-latch-0000000001";
  const std::string left = "_c_22222222-2222-2222-2222-222222222222-latch-0000000002";
  election_view before;
  before.candidates.push_back({"two", left, 12, 0, 0x22});
  election seen(it.zk, "/e", {.id = "observer"});
  auto watching = seen.async_view_change(before, it.begun());
  const int tries = 5;
  for (int i = 1; i <= tries; ++i) {
    CHECK_PENDING_OF(it, "get /e", "children /e");
    it.answer();
    it.list({gone, left});
    CHECK_PENDING_OF(it, "get /e/" + gone, "exists /e");
    it.fail(errc::no_node);
    it.answer_with({.stat = {.pzxid = 100 + i}});
    CHECK_PENDING_OF(it, "get /e/" + left);
    it.answer_with({.data = "two", .stat = {.czxid = 12}});
  }
  BOOST_TEST_REQUIRE(watching.done());
  BOOST_TEST(watching.result<0>().leader == "two");
  BOOST_TEST(watching.result<0>().leader_token == 12);
}

BOOST_AUTO_TEST_SUITE_END()
