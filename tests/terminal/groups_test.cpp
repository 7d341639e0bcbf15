// Shard groups and the hand-overs of their shards.
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/test/unit_test.hpp>

#include "change/resignation.hpp"
#include "problems/rules.hpp"
#include "report/follow_report.hpp"
#include "report/group_report.hpp"
#include "samples.hpp"

using namespace zkadmin;
using namespace std::chrono_literals;
using zkrecipes::election_view;
using zkrecipes::takeover;
using zkrecipes::term_phase;
namespace json = boost::json;

// The states of a hand-over, from views that show all of them or miss some.

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
  BOOST_TEST(part(hand_over_state::inaugurating).at_most);
  const std::string text = to_text(progress, "");
  BOOST_TEST(text.find("finishing          -  not seen\n") != std::string::npos, text);
  BOOST_TEST(text.find("none: the leader retired") != std::string::npos, text);
  BOOST_TEST(text.find("not seen; by the record, at most") != std::string::npos, text);
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

// The state of a shard group, and the output of `groups`.

namespace {

json::object parsed_groups(const known_groups& groups) {
  const std::string text = to_json(groups);
  BOOST_TEST(text.find('\n') == text.size() - 1);
  return json::parse(text).as_object();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(groups)

BOOST_AUTO_TEST_CASE(ranges_of_shards) {
  BOOST_TEST(ranges({}) == "");
  BOOST_TEST(ranges({7}) == "7");
  BOOST_TEST(ranges({0, 1, 2, 3, 9}) == "0-3,9");
  BOOST_TEST(ranges({0, 2, 3, 5, 9999}) == "0,2-3,5,9999");
}

BOOST_AUTO_TEST_CASE(each_shard_is_counted_once) {
  const auto group = samples::group();
  BOOST_TEST(owned_count(group) == 5u);
  BOOST_TEST(group.moves.size() == 3u);
  BOOST_TEST(group.quarantined.size() == 1u);
  BOOST_TEST(ranges(group.waiting) == "8-9");
  BOOST_TEST(ranges(group.unassigned) == "11");
  BOOST_TEST(group.frozen);
  BOOST_TEST(text_of(problems_of(group)) == "shards in quarantine: 1");
}

BOOST_AUTO_TEST_CASE(moves_tell_where_from_and_since_when) {
  const auto moves = samples::group().moves;
  BOOST_TEST_REQUIRE(moves.size() == 3u);
  BOOST_TEST((moves[0] == shard_move_status{5, "orders-2", false, "orders-1", "handing_over", 1200ms}));
  BOOST_TEST((moves[1] == shard_move_status{6, "orders-3", true, "orders-1", "executing", 90s}));
  BOOST_TEST((moves[2] == shard_move_status{7, "", false, "orders-2", "none", std::nullopt}));
}

// The last owner writes its figures each second while it executes.
BOOST_AUTO_TEST_CASE(a_move_waits_from_its_order_on_whatever_the_last_owner_writes_while_it_executes) {
  auto view = samples::group_view();
  const auto at_noon =
      std::chrono::duration_cast<std::chrono::milliseconds>(samples::noon().time_since_epoch()).count();
  view.members[0].since = at_noon - 300'000;
  auto& shard = view.shards[5];
  shard.since = at_noon - 1'000;
  const auto waits = [&](zkrecipes::term_phase phase) {
    shard.phase = phase;
    return status_of("/orders", view, {"orders-1"}, samples::noon()).moves[0].waits;
  };
  BOOST_TEST((waits(zkrecipes::term_phase::executing) == 300s));
  BOOST_TEST((waits(zkrecipes::term_phase::handing_over) == 1s));
  BOOST_TEST((waits(zkrecipes::term_phase::retired) == 1s));
  view.members[0].since = at_noon - 500;
  BOOST_TEST((waits(zkrecipes::term_phase::executing) == 500ms));
}

BOOST_AUTO_TEST_CASE(shards_whose_consumers_hold_off_are_told_with_the_reason_of_the_first) {
  zkrecipes::shard_group_view view;
  view.shards.resize(4);
  for (std::uint32_t i = 0; i < 4; ++i) view.shards[i].number = i;
  view.shards[1].held_off = "the database is away";
  view.shards[2].held_off = "it is away, too";
  const auto found = problems_of(status_of("/orders", view, {"orders-1"}, samples::noon()));
  BOOST_TEST_REQUIRE(found.size() == 1u);
  BOOST_TEST(found[0].name == "consumer-held-off");
  BOOST_TEST(found[0].text == "messages are held off (shards 1-2): the database is away");
}

BOOST_AUTO_TEST_CASE(the_first_shard_that_stands_still_has_the_name_of_its_message) {
  auto view = samples::group_view();
  view.shards[2].is_still = view.shards[4].is_still = true;
  view.shards[2].still_message = "7";
  view.shards[4].still_message = "8";
  const auto group = status_of("/orders", view, {"orders-1"}, samples::noon());
  BOOST_TEST((group.still == shard_numbers{2, 4}));
  BOOST_TEST(group.still_message == "7");
}

BOOST_AUTO_TEST_CASE(a_clock_that_is_behind_makes_no_negative_age) {
  const auto early = status_of("/orders", samples::group_view(), {"orders-1"}, samples::noon() - 1h);
  BOOST_TEST((early.moves[0].age == 0ms));
  BOOST_TEST((early.away[0].age == 0ms));
}

// The nodes of a group are not read at one moment.
BOOST_AUTO_TEST_CASE(what_was_read_at_different_times_does_not_matter) {
  auto view = samples::group_view();
  view.shards[0].assigned_to = "_c_99-member-0000000099";  // a member that is gone since
  view.shards[1].is_in_quarantine = true;
  view.shards[10].quarantine = {};  // its node says nothing
  view.away[0].since = 0;
  const auto group = status_of("/orders", view, {}, samples::noon());
  BOOST_TEST(ranges(group.unassigned) == "0,11");
  BOOST_TEST_REQUIRE(group.quarantined.size() == 2u);
  BOOST_TEST((group.quarantined[0] == quarantined_shard{1, 0, "orders-1"}));
  BOOST_TEST((group.away[0].age == std::nullopt));
  BOOST_TEST(text_of(problems_of(group)) == "shards in quarantine: 2; nobody plans");
}

BOOST_AUTO_TEST_CASE(a_group_that_all_have_left_is_told_when_the_grace_of_the_last_one_is_over) {
  auto view = samples::group_view();
  view.members.clear();
  view.shards.clear();
  zkrecipes::shard_view ended;
  ended.epoch = 2;
  ended.phase = term_phase::retired;
  ended.since =
      std::chrono::duration_cast<std::chrono::milliseconds>(samples::noon().time_since_epoch()).count() - 90'000;
  view.shards.push_back(ended);
  const auto found = [&](std::chrono::milliseconds later) {
    return problems_of(status_of("/orders", view, {}, samples::noon() + later));
  };
  BOOST_TEST(found(35s).empty(), "it had stopped 4 s before noon, and was waited for until 6 s behind it");
  BOOST_TEST(text_of(found(36s)) == "no member has been there for 30 s: its shards stand still");
  BOOST_TEST(!is_critical(found(36s)));
  view.shards[0].phase = term_phase::executing;
  BOOST_TEST(text_of(found(0s)) == "no member is there, although terms of its shards go on by the records");
  BOOST_TEST(is_critical(found(0s)));
  view.shards[0].is_in_quarantine = true;
  BOOST_TEST(!has_problem(found(0s), "nobody-in-group"), "it is meant to stand still");
  view.shards[0].is_in_quarantine = false;
  view.shards[0].number = 8;
  BOOST_TEST(!has_problem(found(0s), "nobody-in-group"), "it waits for the absent member");
}

BOOST_AUTO_TEST_CASE(what_nobody_is_to_own_is_unassigned_since_the_last_order) {
  auto view = samples::group_view();
  view.away.clear();
  view.members[1].since =
      std::chrono::duration_cast<std::chrono::milliseconds>(samples::noon().time_since_epoch()).count() - 200'000;
  view.shards[0].since = view.members[1].since + 199'000;  // written at work
  const auto group = status_of("/orders", view, {"orders-1"}, samples::noon());
  BOOST_TEST((group.unassigned_for == 200s));
  BOOST_TEST(has_problem(problems_of(group), "shards-unassigned"));
  BOOST_TEST(!group.has_open_terms);
  BOOST_TEST(!group.deserted_for.has_value());
}

BOOST_AUTO_TEST_CASE(nobody_has_to_plan_for_nobody) {
  group_status empty;
  BOOST_TEST(text_of(problems_of(empty)) == "");
}

BOOST_AUTO_TEST_CASE(json_of_a_group) {
  const auto document = parsed_groups(samples::groups());
  BOOST_TEST(document.at("schema").as_int64() == 1);
  BOOST_TEST(document.at("complete").as_bool());
  BOOST_TEST(document.at("notes").as_array().empty());
  BOOST_TEST(document.at("groups").as_array().size() == 2u);
  BOOST_TEST(
      json::serialize(document.at("groups").at(0)) ==
      R"({"path":"/orders","shards":12,"owned":5,"moving":3,"waiting":2,"quarantined":1,"unassigned":1,)"
      R"("frozen":true,"planner":"orders-1","members":[)"
      R"({"id":"orders-1","node":"_c_11-member-0000000001","state":"active","capacity":1,"data":"10.0.0.7:8080",)"
      R"("plan":17,"owned":4,"moving":2,"owned_shards":"0-3","moving_shards":"5-6"},)"
      R"({"id":"orders-2","node":"_c_22-member-0000000002","state":"draining","capacity":5E-1,"data":null,)"
      R"("plan":17,"owned":1,"moving":1,"owned_shards":"4","moving_shards":"7"}],)"
      R"("moves":[{"shard":5,"from":"orders-2","from_gone":false,"to":"orders-1","phase":"handing_over","age_ms":1200},)"
      R"({"shard":6,"from":"orders-3","from_gone":true,"to":"orders-1","phase":"executing","age_ms":90000},)"
      R"({"shard":7,"from":null,"from_gone":false,"to":"orders-2","phase":"none","age_ms":null}],)"
      R"("quarantine":[{"shard":10,"deaths":3,"last_owner":"orders-3"}],)"
      R"("away":[{"id":"orders-4","age_ms":4000,"grace_ms":10000,"shards":"8-9"}],"pins":[],"drained":[],)"
      R"("unassigned_shards":"11","problem":"shards in quarantine: 1"})");
}

BOOST_AUTO_TEST_CASE(none_are_told_from_not_known) {
  BOOST_TEST(to_json(std::nullopt) == R"({"schema":1,"complete":false,"groups":null,"notes":[]})"
                                      "\n");
  BOOST_TEST(to_json(group_survey{}) == R"({"schema":1,"complete":true,"groups":[],"notes":[]})"
                                        "\n");
  BOOST_TEST(to_tsv(std::nullopt) == "groups\tunknown\t\n");
  BOOST_TEST(to_tsv(group_survey{}) == "groups\tcomplete\t0\n");
  BOOST_TEST(to_table(known_groups()) == "Shard groups: not known.\n");
  BOOST_TEST(to_table(known_groups(group_survey{})) == "No shard groups.\n");
}

BOOST_AUTO_TEST_CASE(what_was_left_out_is_told_with_its_path) {
  group_survey part{{}, {{"/closed", "may not be read"}}, false, true};
  BOOST_TEST(json::serialize(parsed_groups(part).at("notes")) == R"([{"path":"/closed","text":"may not be read"}])");
  BOOST_TEST(to_tsv(part) == "groups\tincomplete\t0\nnote\t/closed\tmay not be read\n");
  BOOST_TEST(to_table(known_groups(part)) == "There may be more shard groups than these.\n");
}

BOOST_AUTO_TEST_CASE(table_of_groups) {
  BOOST_TEST(to_table(known_groups(samples::groups())) ==
             "GROUP     SHARDS  OWNED  MOVING  WAITING  UNASSIGNED  QUARANTINE  MEMBERS  AWAY  PLANNER   FROZEN\n"
             "/orders       12      5       3        2           1           1        2     1  orders-1  frozen\n"
             "  problem: shards in quarantine: 1\n"
             "/parcels     256      0       0        0           3           0        0     0  -         -\n");
}

BOOST_AUTO_TEST_CASE(table_of_one_group) {
  BOOST_TEST(
      to_table(samples::group()) ==
      "/orders: 12 shards, 5 owned, 3 moving, 2 waiting, 1 in quarantine, 1 unassigned; planner orders-1; frozen\n"
      "problem: shards in quarantine: 1\n"
      "\n"
      "MEMBER    STATE     CAPACITY  OWNED  MOVING  SHARDS  DATA           NODE\n"
      "orders-1  active           1      4       2  0-3     10.0.0.7:8080  _c_11-member-0000000001\n"
      "orders-2  draining       0.5      1       1  4       -              _c_22-member-0000000002\n"
      "\n"
      "MOVING  FROM             TO        PHASE            FOR\n"
      "     6  orders-3 (gone)  orders-1  executing     1m 30s\n"
      "     5  orders-2         orders-1  handing_over   1.2 s\n"
      "     7  -                orders-2  none               -\n"
      "\n"
      "QUARANTINE  DEATHS  LAST OWNER\n"
      "        10       3  orders-3\n"
      "\n"
      "AWAY        FOR  GRACE  SHARDS\n"
      "orders-4  4.0 s   10 s  8-9\n");
}

BOOST_AUTO_TEST_CASE(what_an_operator_wants_of_the_planner) {
  auto view = samples::group_view();
  view.drained = {"orders-1", "orders-9"};
  view.members[0].is_drained = true;
  view.shards[5].pinned_to = "orders-2";
  view.shards[8].pinned_to = "orders-4";
  const auto group = status_of("/orders", view, {"orders-1"}, samples::noon());
  group_survey one;
  one.found = {group};
  const auto found = parsed_groups(one).at("groups").at(0);
  BOOST_TEST(found.at("members").at(0).at("state") == "drained");
  BOOST_TEST(json::serialize(found.at("drained")) == R"(["orders-1","orders-9"])");
  BOOST_TEST(json::serialize(found.at("pins")) == R"([{"shard":5,"member":"orders-2","assigned_to":"orders-1"},)"
                                                  R"({"shard":8,"member":"orders-4","assigned_to":null}])");
  const auto text = to_table(group);
  BOOST_TEST(text.ends_with("\nPINNED  MEMBER    OWNER TO BE\n"
                            "     5  orders-2  orders-1\n"
                            "     8  orders-4  -\n"
                            "\nDRAINED   STATE\n"
                            "orders-9  not there\n"),
             text);
  BOOST_TEST(to_tsv(one).find("pin\t/orders\t5\torders-2\torders-1\npin\t/orders\t8\torders-4\t\n"
                              "drained\t/orders\torders-1\ndrained\t/orders\torders-9\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(long_lists_are_cut_in_tables) {
  auto group = samples::group();
  group.members[0].owned.clear();
  for (std::uint32_t i = 0; i < 100; i += 2) group.members[0].owned.push_back(i);
  group.moves.clear();
  for (std::uint32_t i = 0; i < 30; ++i)
    group.moves.push_back({i, "orders-2", false, "orders-1", "retired", std::chrono::seconds(i)});
  const auto text = to_table(group);
  BOOST_TEST(text.find(" 0,2,4,6,8,10,12,14,16,18,20,22,24,26,...  ") != std::string::npos, text);
  BOOST_TEST(text.find("\n    29  orders-2") != std::string::npos, text);
  BOOST_TEST(text.find("\nand 10 more\n") != std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(tsv_of_groups) {
  BOOST_TEST(to_tsv(samples::groups()) ==
             "groups\tcomplete\t2\n"
             "group\t/orders\t12\t5\t3\t2\t1\t1\t2\t1\torders-1\tyes\tshards in quarantine: 1\n"
             "member\t/orders\torders-1\t_c_11-member-0000000001\tactive\t1000\t10.0.0.7:8080\t4\t2\t0-3\t5-6\n"
             "member\t/orders\torders-2\t_c_22-member-0000000002\tdraining\t500\t\t1\t1\t4\t7\n"
             "move\t/orders\t5\torders-2\tno\torders-1\thanding_over\t1200\n"
             "move\t/orders\t6\torders-3\tyes\torders-1\texecuting\t90000\n"
             "move\t/orders\t7\t\tno\torders-2\tnone\t\n"
             "quarantine\t/orders\t10\t3\torders-3\n"
             "away\t/orders\torders-4\t4000\t10000\t8-9\n"
             "group\t/parcels\t256\t0\t0\t0\t0\t3\t0\t0\t\tno\t\n");
}

BOOST_AUTO_TEST_CASE(texts_from_the_cluster_can_not_harm_a_terminal) {
  auto group = samples::group();
  group.path = "/a\x1b[2J";
  group.members[0].id = group.members[0].data = group.planner = "\x1b[31m\xff";
  group.moves[0].from = group.quarantined[0].last_owner = group.away[0].id = "\n\x07";
  group_survey one;
  one.found = {group};
  for (const auto& text : {to_table(group), to_table(known_groups(one)), to_tsv(one), to_json(one)})
    for (const unsigned char c : text) BOOST_TEST((c == '\n' || c == '\t' || (c >= 0x20 && c != 0x7f)));
}

BOOST_AUTO_TEST_SUITE_END()
