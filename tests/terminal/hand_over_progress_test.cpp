// The states of a hand-over, from views that show all of them or miss some.
#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include "change/resignation.hpp"
#include "report/follow_report.hpp"

using namespace zkadmin;
using namespace std::chrono_literals;
using zkrecipes::election_view;
using zkrecipes::takeover;
using zkrecipes::term_phase;
namespace json = boost::json;

namespace {

constexpr std::int64_t leader_token = 11;
constexpr std::int64_t next_token = 12;

election_view led(term_phase phase) {
  election_view view;
  view.path = "/e";
  view.epoch = 7;
  view.phase = phase;
  view.leader = "a";
  view.leader_token = leader_token;
  view.candidates = {{"a", "n1", leader_token, 0, 1}, {"b", "n2", next_token, 1, 2}};
  return view;
}

election_view followed(term_phase phase, takeover how) {
  election_view view;
  view.path = "/e";
  view.epoch = 8;
  view.phase = phase;
  view.how = how;
  view.leader = "b";
  view.leader_token = next_token;
  view.candidates = {{"b", "n2", next_token, 0, 2}};
  return view;
}

election_view awaited() {
  auto view = followed(term_phase::executing, takeover::clean);
  view.epoch = 7;
  view.leader.clear();
  view.leader_token = 0;
  view.hand_over = zkrecipes::hand_over_view{"a", "b", "awaiting", 1s, 20s};
  return view;
}

struct progress_case {
  hand_over_progress progress{"a", leader_token, 7};

  std::string note(const election_view& view, std::chrono::milliseconds at) {
    std::string names;
    for (const auto& each : progress.update(view, at)) names += std::string(to_string(each.state)) + " ";
    return names;
  }
  hand_over_part part(hand_over_state which) { return progress.parts().at(static_cast<std::size_t>(which)); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(hand_over_progresses, progress_case)

BOOST_AUTO_TEST_CASE(all_states_in_order) {
  BOOST_TEST(note(led(term_phase::executing), 1ms) == "");
  BOOST_TEST(note(led(term_phase::handing_over), 12ms) == "seen finishing ");
  BOOST_TEST(progress.holds_place());
  BOOST_TEST(note(awaited(), 100ms) == "awaiting ");
  BOOST_TEST(!progress.holds_place());
  BOOST_TEST(note(followed(term_phase::inaugurating, takeover::forced), 1100ms) == "inaugurating ");
  BOOST_TEST(!progress.is_done());
  BOOST_TEST(note(followed(term_phase::executing, takeover::forced), 1250ms) == "executing ");
  BOOST_TEST(progress.is_done());
  BOOST_TEST((part(hand_over_state::requested).lasted == 12ms));
  BOOST_TEST((part(hand_over_state::finishing).lasted == 88ms));
  BOOST_TEST((part(hand_over_state::awaiting).lasted == 1000ms));
  BOOST_TEST((part(hand_over_state::inaugurating).lasted == 150ms));
  for (const auto& each : progress.parts()) BOOST_TEST((each.was_seen && !each.at_most && !each.was_skipped));
  BOOST_TEST(result_line(progress, "/e") == "b executes term 8 of /e, 1.2 s after the request (forced)");
}

BOOST_AUTO_TEST_CASE(what_was_not_seen_is_not_invented) {
  auto view = followed(term_phase::executing, takeover::clean);
  view.began = view.since + 5s;
  view.since = *view.began + 3ms;
  BOOST_TEST(note(view, 15ms) == "executing ");
  BOOST_TEST((part(hand_over_state::requested).lasted == 15ms));
  BOOST_TEST(part(hand_over_state::requested).at_most);
  BOOST_TEST(!part(hand_over_state::seen).was_seen);
  BOOST_TEST(!part(hand_over_state::finishing).was_seen);
  BOOST_TEST(!part(hand_over_state::finishing).lasted.has_value());
  BOOST_TEST(part(hand_over_state::awaiting).was_skipped);
  BOOST_TEST((part(hand_over_state::inaugurating).lasted == 3ms));
  BOOST_TEST(part(hand_over_state::inaugurating).from_record);
  const std::string text = to_text(progress, "");
  BOOST_TEST(text.find("finishing          -  not seen\n") != std::string::npos, text);
  BOOST_TEST(text.find("none: the leader retired") != std::string::npos, text);
  BOOST_TEST(text.find("not seen; by the record") != std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(a_clean_hand_over_has_nothing_to_await) {
  note(led(term_phase::handing_over), 10ms);
  note(followed(term_phase::inaugurating, takeover::clean), 30ms);
  note(followed(term_phase::executing, takeover::clean), 31ms);
  BOOST_TEST((part(hand_over_state::finishing).lasted == 20ms));
  BOOST_TEST(!part(hand_over_state::finishing).at_most);
  BOOST_TEST(part(hand_over_state::awaiting).was_skipped);
}

BOOST_AUTO_TEST_CASE(a_leader_that_died_is_awaited_without_having_seen_the_request) {
  BOOST_TEST(note(awaited(), 10ms) == "awaiting ");
  note(followed(term_phase::executing, takeover::forced), 30ms);
  BOOST_TEST(!part(hand_over_state::finishing).was_seen);
  BOOST_TEST(part(hand_over_state::requested).at_most);
  BOOST_TEST(!part(hand_over_state::awaiting).was_skipped);
}

BOOST_AUTO_TEST_CASE(the_same_view_again_tells_nothing) {
  note(led(term_phase::handing_over), 10ms);
  BOOST_TEST(note(led(term_phase::handing_over), 20ms) == "");
  BOOST_TEST(note(led(term_phase::executing), 30ms) == "");
}

BOOST_AUTO_TEST_CASE(a_successor_without_a_record_leads) {
  auto view = followed(term_phase::none, takeover::clean);
  view.how.reset();
  view.leader.clear();
  BOOST_TEST(note(view, 10ms) == "executing ");
  BOOST_TEST(result_line(progress, "/e").starts_with("a candidate without an id"));
}

BOOST_AUTO_TEST_CASE(a_retired_record_that_nobody_follows_is_no_end) {
  auto view = led(term_phase::retired);
  view.leader.clear();
  view.leader_token = 0;
  view.candidates.clear();
  BOOST_TEST(note(view, 10ms) == "");
  BOOST_TEST(!progress.is_done());
  BOOST_TEST(!progress.holds_place());
  const std::string text = to_text(progress, "");
  BOOST_TEST(text.find("not reached") != std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(lines_for_programs) {
  const auto steps = progress.update(led(term_phase::handing_over), 12ms);
  BOOST_TEST(to_ndjson(steps.at(1)) == R"({"event":"state","state":"finishing","at_ms":12,"from":"a","to":"b",)"
                                       R"("epoch":7,"takeover":null})"
                                       "\n");
  BOOST_TEST(to_line(steps.at(1)) == "   +12 ms  finishing     a -> b\n");
  const auto end = json::parse(to_ndjson(progress, "too late"));
  BOOST_TEST(end.at("event") == "end");
  BOOST_TEST(!end.at("done").as_bool());
  BOOST_TEST(end.at("problem") == "too late");
  BOOST_TEST(end.at("states").as_array().size() == hand_over_states);
}

BOOST_AUTO_TEST_CASE(names_can_not_move_the_cursor) {
  hand_over_progress other("\x1b[2Jx", leader_token, 7);
  auto view = led(term_phase::handing_over);
  view.candidates[1].id = "y\x1b[31m\n";
  std::string text;
  for (const auto& each : other.update(view, 1ms)) text += to_line(each);
  BOOST_TEST(text.find('\x1b') == std::string::npos);
  BOOST_TEST(std::count(text.begin(), text.end(), '\n') == 2);
}

BOOST_AUTO_TEST_SUITE_END()
