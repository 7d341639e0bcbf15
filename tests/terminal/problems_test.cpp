// The rules that say what is a problem.
#include <fstream>
#include <set>
#include <string>

#include <boost/test/unit_test.hpp>

#include "base/text.hpp"
#include "cluster/recipe_status.hpp"
#include "problems/ensemble_rules.hpp"
#include "problems/rules.hpp"
#include "problems/verdict.hpp"
#include "samples.hpp"

using namespace zkadmin;
using namespace std::chrono_literals;

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
             "critical nobody-in-line /orders/consumer: in office by its record, but nobody is in line");
  BOOST_TEST(problems_at("/stalled") == "critical stalled /stalled: given up by its watchdog: it made no progress");
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

BOOST_AUTO_TEST_CASE(a_consumer_that_holds_off_tells_why) {
  auto election = quiet();
  election.held_off = "the database is away";
  const auto found = problems_of(election);
  BOOST_TEST_REQUIRE(found.size() == 1u);
  BOOST_TEST(found[0].name == "consumer-held-off");
  BOOST_TEST(found[0].text == "all attempts at its messages fail, so it tries one at a time: the database is away");
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
  BOOST_TEST(text_of(found).starts_with("given up by its watchdog: it made no progress; in line without a session: "));
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
  servers[1].zxid = 0x200000001;
  BOOST_TEST(of_servers(servers) == "");
  servers[0].zxid = 0x200000001;
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
  for (const auto& servers : {std::vector{saying}, std::vector{down(1)}})
    for (const auto& each : problems_of(servers)) named.insert(each.name);
  for (const auto& stream : {samples::log_of_orders(), samples::queues_of_jobs(), samples::without_broker()})
    for (const auto& each : problems_of(stream)) named.insert(each.name);
  auto held = quiet();
  held.held_off = "the database is away";
  for (const auto& each : problems_of(held)) named.insert(each.name);
  for (const auto& all : {problems_of(samples::standing_election()), problems_of(samples::failing_group()),
                          problems_of(samples::full_round())})
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
