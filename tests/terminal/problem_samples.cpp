#include "problem_samples.hpp"

#include <string>

#include "group_samples.hpp"
#include "samples.hpp"

namespace samples {

using namespace std::chrono_literals;
using namespace zkadmin;

namespace {

election_status calm_at(const std::string& path) {
  auto election = elections()[0];
  election.path = path;
  return election;
}

std::vector<election_status> sick_elections() {
  auto abandoned = troubles()[0];
  auto stalled = calm_at("/stalled");
  stalled.phase = "stalled";
  auto dead = abandoned;
  dead.path = "/dead";
  dead.phase = "died";
  auto deaf = calm_at("/deaf");
  deaf.resignation_asked = 12s;
  auto late = elections()[1];
  late.path = "/late";
  late.hand_over->elapsed = 15s;
  auto vacant = calm_at("/vacant");
  vacant.leader.reset();
  vacant.phase = "retired";
  vacant.leaderless_for = 45s;
  auto orphan = calm_at("/orphan");
  orphan.waiters[1].session_id = 0;
  return {abandoned, stalled, dead, deaf, late, vacant, orphan, elections()[2], troubles()[2]};
}

group_status sick_group() {
  auto sick = group();
  sick.planner.clear();
  sick.moves[0].waits = 3min;
  sick.moves[1].waits = 5s;
  return sick;
}

topic_status sick_topic() {
  topic_status topic;
  topic.path = "/mail";
  topic.shards = 16;
  topic.groups = {{"audit", {}, 2}, {"billing", {{0, 1, 10, 1500ms}, {12, 3, 300, 6min}}, 0}};
  return topic;
}

std::vector<server_status> sick_servers() {
  auto all = servers();
  auto silent = all[2];
  silent.server = "127.1.2.4:2181";
  silent.silent = true;
  silent.error = "no answer within 400 ms";
  auto starting = all[0];
  starting.server = "127.1.2.5:2181";
  starting.role = server_role::not_serving;
  starting.error = "not serving requests: no quorum, or still starting";
  auto behind = all[0];
  behind.server = "127.1.2.6:2181";
  *all[1].zxid += 20'000;
  *all[0].zxid += 19'990;
  all.insert(all.end(), {silent, starting, behind});
  return all;
}

/// A lock that a node of no session keeps, with a member of another recipe; a semaphore that was resized to fewer
/// permits than are taken.
std::vector<recipe_status> sick_recipes() {
  recipe_status lock;
  lock.path = "/lock";
  lock.kinds = {recipe::lock};
  participant_status orphan{"holder", "copied", "_c_x-lock-0000000001"};
  orphan.position = 0;
  orphan.session = 0;
  orphan.is_orphan = true;
  lock.participants = {orphan};
  lock.strangers = {"qn-0000000007"};
  lock.stranger_count = 1;
  recipe_status semaphore;
  semaphore.path = "/permits";
  semaphore.kinds = {recipe::semaphore};
  semaphore.size = 2;
  semaphore.taken = 3;
  semaphore.facts = {{"resized", fact_value(std::chrono::milliseconds(6min))}};
  return {lock, semaphore};
}

}  // namespace

findings healthy() {
  findings seen;
  seen.servers = servers();
  seen.servers.pop_back();
  seen.elections = election_survey{{calm_at("/billing/consumer")}};
  seen.groups = group_survey{};
  seen.topics = topic_survey{};
  seen.commits = commit_survey{};
  seen.recipes = recipe_survey{};
  return seen;
}

findings sick() {
  findings seen = healthy();
  seen.servers = sick_servers();
  seen.elections->elections = sick_elections();
  seen.groups->found = {sick_group()};
  seen.topics->found = {sick_topic()};
  seen.commits->found = {{"/payments", {{"order-1", 5s}, {"order-2", 3min}, {"order-3", 4min}}}};
  seen.recipes->found = sick_recipes();
  seen.queues = queue_survey{};
  seen.queues->found = {{"/jobs", 12, 0, 0, 3, 6min}, {"/tasks", 5, 1, 0, 0, 7min}};
  return seen;
}

election_status standing_election() {
  auto election = calm_at("/standing");
  election.is_still = true;
  election.still_message = "qn-0000000007";
  election.waiters = {{"twin", 1, 7, 70, "a"},
                      {"twin", 2, 8, 70, "b"},
                      {"looper", 3, 9, 71, "c"},
                      {"looper", 4, 10, 72, "d"},
                      {"looper", 5, 11, 73, "e"}};
  return election;
}

group_status failing_group() {
  group_status group;
  group.path = "/group";
  group.planner = "a";
  group.members.resize(3);
  group.members[0].id = "a";
  group.members[1].id = "b";
  group.members[1].failing = "no disk";
  group.members[2].id = "c";
  group.members[2].returns = 2;
  group.still = {3, 4, 9};
  group.still_message = "m-1";
  return group;
}

recipe_status full_round() {
  recipe_status barrier;
  barrier.path = "/round";
  barrier.kinds = {recipe::double_barrier};
  barrier.state = "gathering";
  barrier.size = barrier.taken = 2;
  barrier.participants.resize(2);
  for (auto& each : barrier.participants) each.age = 31s;
  return barrier;
}

model sick_dashboard() {
  model state = dashboard();
  state.kinds = all_kinds;
  const auto seen = sick();
  for (const event& each :
       std::initializer_list<event>{servers_seen{seen.servers}, elections_seen{*seen.elections},
                                    groups_seen{*seen.groups}, topics_seen{*seen.topics}, commits_seen{*seen.commits},
                                    queues_seen{*seen.queues}, recipes_seen{*seen.recipes}})
    update(state, each, noon());
  return state;
}

}  // namespace samples
