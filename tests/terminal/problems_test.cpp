// Problems by their rules, and the output of `check`.
#include <algorithm>
#include <fstream>
#include <set>
#include <string>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/test/unit_test.hpp>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "cluster/recipe_status.hpp"
#include "commands/targets.hpp"
#include "problems/ensemble_rules.hpp"
#include "problems/rules.hpp"
#include "problems/verdict.hpp"
#include "report/check_report.hpp"
#include "samples.hpp"
#include "settings/command_line.hpp"
#include "settings/values.hpp"

using namespace zkadmin;
using namespace std::chrono_literals;
namespace json = boost::json;

// The output of `check`, and what it takes for an answer.

namespace {

verdict two_problems() {
  verdict judged;
  judged.problems = {{"nobody-in-line", severity::critical, "/e", "nobody is there"},
                     {"server-down", severity::warning, "a:2181", "Connection refused"}};
  judged.extent = "3 servers";
  return judged;
}

std::string state_with(problem_list problems, std::vector<survey_note> unknown) {
  return to_string(state_of({std::move(problems), std::move(unknown), ""}));
}

std::string refused_targets(const std::vector<std::string>& only) {
  try {
    parse_targets(only);
  } catch (const failure& error) {
    return error.what();
  }
  return "not refused";
}

bool is_check(std::vector<const char*> arguments) { return is_for_check(arguments); }

}  // namespace

BOOST_AUTO_TEST_SUITE(check_output)

BOOST_AUTO_TEST_CASE(the_first_line_says_it_all) {
  BOOST_TEST(to_lines(judge(samples::healthy(), {}, {})) ==
             "ZKADMIN OK - 2 servers, 1 election, 0 shard groups, 0 topics, 0 two-phase commits, 0 other recipes\n");
  BOOST_TEST(to_lines(two_problems()) ==
             "ZKADMIN CRITICAL - 2 problems: nobody-in-line /e, server-down a:2181\n"
             "critical nobody-in-line /e: nobody is there\n"
             "warning server-down a:2181: Connection refused\n");
  auto many = two_problems();
  many.problems.insert(many.problems.end(), 3, many.problems[1]);
  many.unknown = {{"/closed", "may not be read"}};
  const auto text = to_lines(many);
  BOOST_TEST(text.substr(0, text.find('\n')) ==
             "ZKADMIN CRITICAL - 5 problems: nobody-in-line /e, server-down a:2181, server-down a:2181, 2 more; "
             "1 thing not known");
  BOOST_TEST(text.ends_with("\nunknown /closed: may not be read\n"));
}

BOOST_AUTO_TEST_CASE(unknown_outweighs_a_warning_and_not_what_is_critical) {
  const problem warning{"server-down", severity::warning, "a", ""};
  const problem critical{"stalled", severity::critical, "/e", ""};
  const survey_note note{"/x", "closed"};
  BOOST_TEST(state_with({}, {}) == "ok");
  BOOST_TEST(state_with({warning}, {}) == "warning");
  BOOST_TEST(state_with({warning}, {note}) == "unknown");
  BOOST_TEST(state_with({}, {note}) == "unknown");
  BOOST_TEST(state_with({warning, critical}, {note}) == "critical");
  BOOST_TEST(static_cast<int>(check_state::unknown) == 3);
}

BOOST_AUTO_TEST_CASE(what_is_missing_is_not_none) {
  findings seen = samples::healthy();
  seen.groups.reset();
  seen.topics.reset();
  seen.trouble = "no connection";
  BOOST_TEST(to_lines(judge(seen, {}, {})) ==
             "ZKADMIN UNKNOWN - 1 thing not known\n"
             "unknown shard groups, topics: not known: no connection\n");
  BOOST_TEST((state_of(judge(seen, {true, true, false, false, true, false}, {})) == check_state::ok));
  seen = samples::healthy();
  seen.elections->refused = true;
  seen.groups->complete = false;
  BOOST_TEST(to_lines(judge(seen, {}, {})) ==
             "ZKADMIN UNKNOWN - 2 things not known\n"
             "unknown elections: something may not be read with these credentials\n"
             "unknown shard groups: there may be more than those that were found\n");
}

// The search is the same for all kinds.
BOOST_AUTO_TEST_CASE(a_note_of_the_search_is_told_once) {
  findings seen = samples::healthy();
  const std::vector<survey_note> notes{{"/closed", "may not be read with these credentials"}};
  seen.elections->notes = seen.groups->notes = seen.topics->notes = seen.commits->notes = notes;
  seen.elections->complete = seen.groups->complete = seen.topics->complete = seen.commits->complete = false;
  BOOST_TEST(judge(seen, {}, {}).unknown.size() == 1u);
}

BOOST_AUTO_TEST_CASE(critical_problems_come_first) {
  const auto judged = judge(samples::sick(), samples::all_kinds, {});
  const auto is_critical_one = [](const problem& each) { return each.how_bad == severity::critical; };
  BOOST_TEST(std::is_partitioned(judged.problems.begin(), judged.problems.end(), is_critical_one));
  BOOST_TEST((judged.problems[0].how_bad == severity::critical));
}

BOOST_AUTO_TEST_CASE(only_the_wanted_kinds_are_judged) {
  const wanted_kinds topics{false, false, false, true, false, false, false};
  for (const auto& each : judge(samples::sick(), topics, {}).problems) BOOST_TEST(each.where == "/mail");
  BOOST_TEST(judge(samples::sick(), topics, {}).extent == "1 topic");
}

BOOST_AUTO_TEST_CASE(json_of_a_check) {
  auto judged = two_problems();
  judged.unknown = {{"/closed", "may not be read"}};
  const auto text = to_json(judged);
  BOOST_TEST(text.find('\n') == text.size() - 1);
  BOOST_TEST(json::serialize(json::parse(text)) ==
             R"({"schema":1,"state":"critical","complete":false,"problems":[)"
             R"({"name":"nobody-in-line","severity":"critical","where":"/e","text":"nobody is there"},)"
             R"({"name":"server-down","severity":"warning","where":"a:2181","text":"Connection refused"}],)"
             R"("notes":[{"path":"/closed","text":"may not be read"}]})");
}

BOOST_AUTO_TEST_CASE(tsv_of_a_check) {
  auto judged = two_problems();
  judged.unknown = {{"/closed", "may not be read"}};
  BOOST_TEST(to_tsv(judged) ==
             "check\tcritical\tincomplete\t2\n"
             "problem\tcritical\tnobody-in-line\t/e\tnobody is there\n"
             "problem\twarning\tserver-down\ta:2181\tConnection refused\n"
             "note\t/closed\tmay not be read\n");
}

BOOST_AUTO_TEST_CASE(texts_from_the_cluster_can_harm_neither_a_terminal_nor_a_plug_in) {
  auto judged = two_problems();
  judged.problems[0].where = "/a|b\n\x1b[2J\xff";
  for (const unsigned char c : to_lines(judged)) BOOST_TEST((c != '|' && (c == '\n' || (c >= 0x20 && c != 0x7f))));
  BOOST_TEST(to_lines(judged).find("/a¦b") != std::string::npos);
  BOOST_TEST(to_line("a|b\nc") == "ZKADMIN UNKNOWN - a¦b\uFFFDc\n");
}

BOOST_AUTO_TEST_CASE(a_part_of_the_cluster) {
  const auto everything = parse_targets({});
  BOOST_TEST((everything.kinds.servers && everything.kinds.has_recipes()));
  BOOST_TEST(everything.paths.empty());
  const auto servers = parse_targets({"servers"});
  BOOST_TEST((servers.kinds.servers && !servers.kinds.has_recipes()));
  const auto below = parse_targets({"/orders/", "/b", "/orders/x", "/orders", "/b2"});
  BOOST_TEST((below.paths == std::vector<std::string>{"/b", "/b2", "/orders"}));
  BOOST_TEST(below.named.size() == 5u, "each has to hold something");
  BOOST_TEST((!below.kinds.servers && below.kinds.elections && below.kinds.commits));
  const auto both = parse_targets({"servers", "groups", "/orders"});
  BOOST_TEST((both.kinds.servers && both.kinds.groups && !both.kinds.topics));
  BOOST_TEST(refused_targets({"locks"}).starts_with("--only: expected servers, elections, groups"));
  BOOST_TEST(refused_targets({"queues"}).starts_with("--only queues: there are none; declare them"));
  BOOST_TEST(refused_targets({"/a//b"}).starts_with("PATH: expected an absolute path"));
}

BOOST_AUTO_TEST_CASE(queues_are_declared) {
  const std::vector<std::string> declared{"/jobs", "/shop/jobs"};
  BOOST_TEST((parse_targets({}, declared).queues == declared));
  BOOST_TEST(parse_targets({}, declared).kinds.queues);
  BOOST_TEST(!parse_targets({}).kinds.queues);
  BOOST_TEST((parse_paths("/b,/a,/b") == std::vector<std::string>{"/a", "/b"}), "none twice");
  const auto below = parse_targets({"/shop"}, declared);
  BOOST_TEST((below.kinds.queues && below.queues == std::vector<std::string>{"/shop/jobs"}));
  BOOST_TEST(!parse_targets({"/other"}, declared).kinds.queues);
  const auto alone = parse_targets({"queues"}, declared);
  BOOST_TEST((alone.kinds.queues && !alone.kinds.elections && alone.queues == declared));
  BOOST_TEST(!parse_targets({"topics"}, declared).kinds.queues);
}

// Also a mistake in its arguments makes `check` exit with 3.
BOOST_AUTO_TEST_CASE(the_command_is_known_before_the_arguments_are_parsed) {
  BOOST_TEST(is_check({"check", "--nonsense"}));
  BOOST_TEST(is_check({"--hosts", "a", "check"}));
  BOOST_TEST(!is_check({"resign", "check"}));
  BOOST_TEST(!is_check({}));
}

BOOST_AUTO_TEST_CASE(the_value_of_an_option_is_no_command) {
  BOOST_TEST(!is_check({"--name", "check", "status"}));
  BOOST_TEST(!is_check({"--name", "check", "--nonsense"}));
  BOOST_TEST(is_check({"--name", "status", "check"}));
  BOOST_TEST(is_check({"--name=status", "check"}));
  BOOST_TEST(is_check({"--no-color", "check"}), "a flag has no value");
  BOOST_TEST(is_check({"--config", "--name", "status", "check"}), "an option without its value");
}

BOOST_AUTO_TEST_SUITE_END()

// The rules that say what is a problem.

namespace {

std::string shown_problem(const problem& one) {
  return std::string(to_string(one.how_bad)) + " " + one.name + " " + one.where + ": " + one.text;
}

/// The problems of the sample with this path.
std::string problems_at(const std::string& where) {
  std::string text;
  for (const auto& each : judge(samples::sick(), samples::all_kinds, {}).problems)
    if (each.where == where) text += (text.empty() ? "" : "\n") + shown_problem(each);
  return text;
}

election_status quiet() { return samples::healthy().elections->found[0]; }

std::string of_servers(const std::vector<server_status>& servers, const problem_limits& limits = {}) {
  std::string text;
  for (const auto& each : problems_of(servers, limits)) append_to_list(text, each.name + " " + each.where);
  return text;
}

server_status down(int number) {
  auto server = samples::servers()[2];
  server.server = "s" + std::to_string(number);
  return server;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(problem_rules)

BOOST_AUTO_TEST_CASE(a_healthy_cluster_has_none) {
  const auto judged = judge(samples::healthy(), {}, {});
  BOOST_TEST(judged.problems.empty(), text_of(judged.problems));
  BOOST_TEST(judged.unknown.empty());
  BOOST_TEST((state_of(judged) == check_state::ok));
}

BOOST_AUTO_TEST_CASE(elections_with_a_problem) {
  BOOST_TEST(problems_at("/orders/consumer") ==
             "critical nobody-in-line /orders/consumer: its record has a leader, but nobody is in line");
  BOOST_TEST(problems_at("/stalled") == "critical stalled /stalled: a leader without progress: its term was ended");
  BOOST_TEST(problems_at("/dead") == "critical leader-died /dead: its leader has died, and nobody is in line");
  BOOST_TEST(problems_at("/deaf") ==
             "warning resignation-not-heeded /deaf: worker-1 was asked to give up 12 s ago, and has not begun to");
  BOOST_TEST(problems_at("/late") ==
             "critical late-hand-over /late: its hand-over from sender-a is past its deadline by 5.0 s");
  BOOST_TEST(problems_at("/vacant") ==
             "critical no-leader /vacant: worker-2 is first in line, and has not begun its term for 45 s");
  BOOST_TEST(problems_at("/orphan") ==
             "warning orphan-candidate /orphan: in line without a session: worker-3; its node stays until somebody "
             "deletes it");
  BOOST_TEST(problems_at("/other") == "warning foreign-data /other: its node holds data that zkrecipes did not write");
  BOOST_TEST(problems_at("/secret") == "warning no-access /secret: it may not be read with these credentials");
}

BOOST_AUTO_TEST_CASE(limits_are_respected) {
  auto election = quiet();
  election.resignation_asked = 9s;
  BOOST_TEST(problems_of(election).empty());
  BOOST_TEST(has_problem(problems_of(election, {.resignation_limit = 5s}), "resignation-not-heeded"));
  election = samples::elections()[1];
  election.hand_over->elapsed = election.hand_over->deadline + 900ms;
  BOOST_TEST(problems_of(election).empty());
  BOOST_TEST(has_problem(problems_of(election, {.hand_over_limit = 500ms}), "late-hand-over"));
  election = quiet();
  election.leader.reset();
  election.leaderless_for = 29s;
  BOOST_TEST(problems_of(election).empty());
  BOOST_TEST(has_problem(problems_of(election, {.takeover_limit = 20s}), "no-leader"));
}

BOOST_AUTO_TEST_CASE(an_election_that_nobody_stands_for_is_a_problem_after_a_while) {
  const auto deserted = samples::deserted();
  auto election = deserted.elections->found[0];
  BOOST_TEST(has_ages(election));
  BOOST_TEST(text_of(problems_of(election)) ==
             "its last term has ended, and nobody has been in line for 40 s: no replica runs, or each ends");
  election.empty_for = 20s;
  BOOST_TEST(problems_of(election).empty());
  grow_older(election, 10s);
  BOOST_TEST(has_problem(problems_of(election), "nobody-leads"));
}

BOOST_AUTO_TEST_CASE(that_nobody_works_is_critical_where_something_waits_beside_it) {
  auto seen = samples::deserted();
  seen.groups->found.resize(1);
  const auto state_of_kind = [&](const std::string& name) {
    const auto judged = judge(seen, samples::all_kinds, {});
    const auto found = std::ranges::find(judged.problems, name, &problem::name);
    return found == judged.problems.end() ? "none" : to_string(found->how_bad);
  };
  BOOST_TEST(state_of_kind("nobody-leads") == "warning");
  BOOST_TEST(state_of_kind("nobody-in-group") == "warning");
  seen.queues = queue_survey{};
  seen.queues->found = {{"/other/jobs", 3, 0, 0, 0, 40s}};
  BOOST_TEST(state_of_kind("nobody-leads") == "warning", "nothing tells that it is their work");
  seen.queues->found = {{"/billing/jobs", 3, 0, 0, 0, 40s}};
  BOOST_TEST(state_of_kind("nobody-leads") == "critical");
  BOOST_TEST(state_of_kind("nobody-in-group") == "warning");
  BOOST_TEST(judge(seen, samples::all_kinds, {}).problems[0].text.ends_with("; 3 items waiting in /billing/jobs"));
  seen.queues->found[0].claimed = 1;
  BOOST_TEST(state_of_kind("nobody-leads") == "warning", "somebody takes from it");
  seen.queues->found = {{"/billing/jobs", 3, 0, 0, 0, 20s}};
  BOOST_TEST(state_of_kind("nobody-leads") == "warning", "it was put just now");
  seen.recipes->found = {recipe_status_of(queue_status{"/group/jobs", 1, 0, 0, 0, 40s})};
  BOOST_TEST(state_of_kind("nobody-in-group") == "critical", "one that was found");
  seen.elections->found.push_back(quiet());
  seen.elections->found.back().path = "/group/other";
  BOOST_TEST(state_of_kind("nobody-in-group") == "warning", "somebody leads beside it");
  seen.elections->found.pop_back();
  seen.groups->found.emplace_back().path = "/group/staffed";
  seen.groups->found.back().members.resize(1);
  BOOST_TEST(state_of_kind("nobody-in-group") == "warning", "a group beside it has a member");
}

BOOST_AUTO_TEST_CASE(a_consumer_that_holds_off_tells_why) {
  auto election = quiet();
  election.held_off = "the database is away";
  const auto found = problems_of(election);
  BOOST_TEST_REQUIRE(found.size() == 1u);
  BOOST_TEST(found[0].name == "consumer-held-off");
  BOOST_TEST(found[0].text == "it holds off its messages: the database is away");
}

BOOST_AUTO_TEST_CASE(a_leader_that_hands_over_has_heeded_the_request) {
  auto election = samples::elections()[1];
  election.resignation_asked = 60s;
  BOOST_TEST(problems_of(election).empty());
}

BOOST_AUTO_TEST_CASE(an_orphan_that_is_first_in_line_is_critical) {
  auto election = quiet();
  election.leader->session_id = 0;
  BOOST_TEST((problems_of(election).at(0).how_bad == severity::critical));
  election.waiters[0].session_id = 0;
  BOOST_TEST(text_of(problems_of(election)) ==
             "in line without a session: worker-1, worker-2; their nodes stay until somebody deletes them");
  election.leader.reset();
  election.waiters[1].session_id = 0;
  election.waiters[0].session_id = 1;
  BOOST_TEST((problems_of(election).at(0).how_bad == severity::warning));
}

BOOST_AUTO_TEST_CASE(several_problems_of_one_election) {
  auto election = samples::troubles()[0];
  election.phase = "stalled";
  election.waiters = quiet().waiters;
  election.waiters[0].session_id = 0;
  const auto found = problems_of(election);
  BOOST_TEST(found.size() == 2u);
  BOOST_TEST(text_of(found).starts_with("a leader without progress: its term was ended; in line without a session: "));
}

BOOST_AUTO_TEST_CASE(that_nobody_plans_is_said_only_if_it_was_seen) {
  group_status group;
  group.path = "/g";
  group.members.resize(1);
  BOOST_TEST(problems_of(group).size() == 1u);
  group.planner_unknown = true;
  BOOST_TEST(problems_of(group).empty());
}

BOOST_AUTO_TEST_CASE(groups_with_a_problem) {
  BOOST_TEST(problems_at("/orders") ==
             "critical quarantined-shards /orders: shards in quarantine: 1\n"
             "warning nobody-plans /orders: nobody plans\n"
             "warning moves-stand-still /orders: moves that stand still: 1, the longest for 3m 00s (shards 5)");
}

BOOST_AUTO_TEST_CASE(shards_that_nobody_is_to_own_for_long) {
  auto group = samples::failing_group();
  group.unassigned = {1, 7};
  group.unassigned_for = 119s;
  group.away = {{"d", 10s, 129s, {2}}};
  BOOST_TEST(!has_problem(problems_of(group), "shards-unassigned"));
  group.away[0].age = 130s;
  BOOST_TEST(problems_of(group)[0].text == "given to no member: 1 (shards 2)");
  group.unassigned_for = 120s;
  BOOST_TEST(problems_of(group)[0].text == "given to no member: 3 (shards 1-2,7)");
  group.planner_unknown = true;
  group.planner.clear();
  BOOST_TEST(!has_problem(problems_of(group), "shards-unassigned"), "nobody plans, which is told");
}

// After a crash the record is as old as the term of the dead owner, so the age of the record proves nothing.
BOOST_AUTO_TEST_CASE(a_move_of_unknown_age_is_not_said_to_stand_still) {
  group_status group;
  group.path = "/g";
  group.moves = {{1, "a", true, "b", "executing", 2h, std::nullopt}, {2, "a", true, "b", "executing", 2h, 1s}};
  BOOST_TEST(problems_of(group).empty());
  group.moves[1].waits = 121s;
  BOOST_TEST(has_problem(problems_of(group), "moves-stand-still"));
  BOOST_TEST(problems_of(group, {.move_limit = 5min}).empty());
}

BOOST_AUTO_TEST_CASE(topics_with_a_problem) {
  BOOST_TEST(problems_at("/mail") ==
             "warning dead-letters /mail: dead letters: 2 of audit\n"
             "warning old-messages /mail: old messages wait for billing (6m 00s, 310 messages behind)");
  auto topic = samples::sick().topics->found[0];
  BOOST_TEST(!has_problem(problems_of(topic, {.message_limit = 10min}), "old-messages"));
}

BOOST_AUTO_TEST_CASE(queues_with_a_problem) {
  BOOST_TEST(problems_at("/jobs") ==
             "warning queue-without-consumers /jobs: 12 items, the oldest for 6m 00s, with no claim and no waiting "
             "taker: no consumer runs, or its leader is slow\n"
             "warning dead-letters /jobs: dead letters: 3");
  BOOST_TEST(problems_at("/tasks") == "warning old-messages /tasks: 5 items, the oldest for 7m 00s");
  auto queue = samples::sick().queues->found[1];
  BOOST_TEST(problems_of(queue, {.message_limit = 10min}).empty());
  queue.claimed = 0;
  queue.takers = 1;
  queue.items = 1;
  BOOST_TEST(text_of(problems_of(queue)) == "1 item, the oldest for 7m 00s");
  queue.items = 0;
  BOOST_TEST(problems_of(queue).empty());
}

BOOST_AUTO_TEST_CASE(a_key_whose_messages_become_dead_letters) {
  auto queue = samples::queue_with_a_parked_key();
  BOOST_TEST(text_of(problems_of(queue)) == "messages of 1 key become dead letters, for 3m 00s: customer-3");
  queue.parked_keys = 2;
  queue.parked_for.reset();
  queue.parked_key.clear();
  BOOST_TEST(text_of(problems_of(queue)) == "messages of 2 keys become dead letters");
}

BOOST_AUTO_TEST_CASE(transactions_in_doubt) {
  BOOST_TEST(problems_at("/payments") ==
             "critical transactions-in-doubt /payments: undecided transactions: 2, the oldest for 4m 00s (order-3)");
  BOOST_TEST(problems_of(samples::sick().commits->found[0], {.transaction_limit = 10min}).empty());
}

BOOST_AUTO_TEST_CASE(servers_with_a_problem) {
  BOOST_TEST(problems_at("127.1.2.3:2181") == "warning server-down 127.1.2.3:2181: Connection refused");
  BOOST_TEST(problems_at("127.1.2.4:2181") == "warning server-silent 127.1.2.4:2181: no answer within 400 ms");
  BOOST_TEST(problems_at("127.1.2.5:2181") ==
             "warning server-not-serving 127.1.2.5:2181: not serving requests: no quorum, or still starting");
  BOOST_TEST(problems_at("127.1.2.6:2181") ==
             "warning lagging-server 127.1.2.6:2181: 20000 transactions behind the leader, with 3 connections");
}

BOOST_AUTO_TEST_CASE(a_server_lags_only_within_the_same_epoch_and_with_clients) {
  auto servers = samples::healthy().servers;
  servers[0].zxid = 0x0f0000001;
  servers[1].zxid = 0x200000100;
  BOOST_TEST(of_servers(servers) == "stale-server 127.1.2.1:2181");
  servers[1].zxid = 0x200000064;
  BOOST_TEST(of_servers(servers) == "", "the new leader may have committed these since it was asked");
  servers[1].zxid = servers[0].zxid = 0x200000001;
  *servers[1].zxid += 10'001;
  BOOST_TEST(of_servers(servers) == "lagging-server 127.1.2.1:2181");
  BOOST_TEST(of_servers(servers, {.zxid_limit = 10'001}) == "");
  servers[0].connections = 1;
  BOOST_TEST(of_servers(servers) == "");
  servers[1].role.reset();
  BOOST_TEST(of_servers(servers) == "");
}

BOOST_AUTO_TEST_CASE(no_quorum_is_said_only_if_a_server_says_so) {
  auto saying = down(1);
  saying.reachable = true;
  saying.role = server_role::not_serving;
  BOOST_TEST(of_servers({saying, down(2), down(3)}) ==
             "no-quorum ensemble, server-not-serving s1, server-down s2, server-down s3");
  BOOST_TEST(problems_of(std::vector{saying, down(2), down(3)}).at(0).text ==
             "no server that answers serves requests: 1 of 3 say that they do not, 2 do not answer");
  BOOST_TEST(of_servers({down(1), down(2)}) == "no-answer ensemble, server-down s1, server-down s2");
}

BOOST_AUTO_TEST_CASE(servers_that_serve_and_give_no_session_are_critical) {
  auto seen = samples::healthy();
  seen.without_session = 5s;
  const auto found = judge(seen, {}, {}).problems;
  BOOST_TEST_REQUIRE(found.size() == 1u);
  BOOST_TEST(shown_problem(found[0]) ==
             "critical no-session ensemble: servers say that they serve, but none has given a session for 5.0 s");
  for (auto& each : seen.servers) each.role = server_role::not_serving;
  BOOST_TEST(!has_problem(judge(seen, {}, {}).problems, "no-session"), "no-quorum tells it");
}

BOOST_AUTO_TEST_CASE(servers_that_tell_nothing_are_unknown_and_no_problem) {
  auto closed = down(1);
  closed.reachable = true;
  closed.error = "srvr is not allowed";
  BOOST_TEST(of_servers({closed, down(2)}) == "server-down s2");
  auto asked = down(3);
  asked.silent = true;
  asked.error.clear();
  BOOST_TEST(of_servers({asked, down(2)}) == "server-down s2");
  const auto notes = unknown_of(std::vector{closed, asked, down(2)});
  BOOST_TEST_REQUIRE(notes.size() == 2u);
  BOOST_TEST(to_string(notes[0]) == "s1: srvr is not allowed");
  BOOST_TEST(to_string(notes[1]) == "s3: has not answered yet");
}

BOOST_AUTO_TEST_CASE(a_node_of_no_session_in_a_line_and_one_of_another_recipe) {
  BOOST_TEST(problems_at("/lock") ==
             "critical orphan-member /lock: without a session: copied; its node stays until somebody deletes it\n"
             "warning foreign-nodes /lock: children that do not belong to it: 1 (qn-0000000007)");
  auto lock = samples::sick().recipes->found[0];
  lock.participants[0].position = 1;
  BOOST_TEST(!is_critical(problems_of(lock)), "nobody waits for it");
}

BOOST_AUTO_TEST_CASE(more_permits_than_there_are_some_time_after_a_resize) {
  BOOST_TEST(problems_at("/permits") ==
             "warning too-many-permits /permits: 3 permits are taken of 2, 6m 00s after the last resize");
  auto semaphore = samples::sick().recipes->found[1];
  BOOST_TEST(problems_of(semaphore, {.permit_limit = 10min}).empty());
  semaphore.taken = 2;
  BOOST_TEST(problems_of(semaphore).empty());
}

BOOST_AUTO_TEST_CASE(a_recipe_that_can_not_be_read_or_understood) {
  recipe_status closed;
  closed.kinds = {recipe::lock};
  closed.access = recipe_access::no_access;
  BOOST_TEST(problems_of(closed).at(0).name == "no-access");
  closed.access = recipe_access::foreign_data;
  BOOST_TEST(problems_of(closed).at(0).name == "foreign-data");
  closed.access = recipe_access::missing;
  BOOST_TEST(problems_of(closed).empty(), "it may not have been used yet");
}

BOOST_AUTO_TEST_CASE(a_service_that_is_declared_has_an_instance_that_serves) {
  auto service = samples::drained_service();
  BOOST_TEST(text_of(problems_of(service)) == "all instances are draining: 2");
  service.facts[1].value = std::int64_t(1);
  BOOST_TEST(problems_of(service).empty());
  service.participants.clear();
  BOOST_TEST(text_of(problems_of(service)) == "no instance is there");
  service.kinds = {recipe::membership};
  BOOST_TEST(text_of(problems_of(service)) == "no member is there");
  service.not_read = 3;
  BOOST_TEST(problems_of(service).empty());
  service.not_read = 0;
  service.is_declared = false;
  BOOST_TEST(problems_of(service).empty(), "it may have come to its end");
}

// A recipe with rules of its own has the same problems in the list of all recipes.
BOOST_AUTO_TEST_CASE(the_rules_of_a_kind_hold_in_the_list_of_all_kinds) {
  const auto seen = samples::sick();
  const auto dead_letters = problems_of(recipe_status_of(seen.queues->found[0]));
  BOOST_TEST((dead_letters == problems_of(seen.queues->found[0])));
  for (const auto& each : seen.elections->found)
    BOOST_TEST((problems_of(recipe_status_of(each, samples::noon())) == problems_of(each)), each.path);
}

// docs/zkadmin.md tells for each problem what to do.
BOOST_AUTO_TEST_CASE(each_problem_has_a_section_of_its_own) {
  std::set<std::string> named, described;
  for (const auto& each : judge(samples::sick(), samples::all_kinds, {}).problems) named.insert(each.name);
  auto saying = down(1);
  saying.reachable = true;
  saying.role = server_role::not_serving;
  auto left_behind = samples::healthy().servers;
  left_behind[1].zxid = 0x200000100;
  for (const auto& servers : {std::vector{saying}, std::vector{down(1)}, left_behind})
    for (const auto& each : problems_of(servers)) named.insert(each.name);
  for (const auto& stream : {samples::log_of_orders(), samples::queues_of_jobs(), samples::without_broker()})
    for (const auto& each : problems_of(stream)) named.insert(each.name);
  auto held = quiet();
  held.held_off = "the database is away";
  for (const auto& each : problems_of(held)) named.insert(each.name);
  auto deserted = samples::deserted();
  deserted.without_session = 5s;
  for (const auto& each : judge(deserted, {}, {}).problems) named.insert(each.name);
  for (const auto& all : {problems_of(samples::standing_election()), problems_of(samples::failing_group()),
                          problems_of(samples::full_round()), problems_of(samples::queue_with_a_parked_key()),
                          problems_of(samples::drained_service())})
    for (const auto& each : all) named.insert(each.name);
  stream_shard_status losing;
  losing.missing.push_back({"shop:0", "7", "14-150"});
  losing.may_drop = true;
  stream_status lossy;
  lossy.groups.push_back({"consumers", {losing}, 0});
  for (const auto& each : problems_of(lossy)) named.insert(each.name);
  std::ifstream page(ZKADMIN_PAGE);
  const std::string begin = "### `";
  for (std::string line; std::getline(page, line);)
    if (line.starts_with(begin)) described.insert(line.substr(begin.size(), line.rfind('`') - begin.size()));
  BOOST_TEST(named == described, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
