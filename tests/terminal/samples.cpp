#include "samples.hpp"

#include <string>
#include <utility>

using namespace zkadmin;
using namespace std::chrono_literals;

namespace samples {

wall_time noon() { return wall_time{} + std::chrono::days(20'000) + 12h; }

std::vector<server_status> servers() {
  server_status first;
  first.server = "127.1.2.1:2181";
  first.reachable = true;
  first.role = server_role::follower;
  first.zxid = 0x10000001f;
  first.connections = 4;
  first.outstanding = 0;
  first.nodes = 42;
  first.latency = latency_ms{0, 0.4167, 12};
  first.version = "3.8.0";
  server_status second = first;
  second.server = "127.1.2.2:2181";
  second.role = server_role::leader;
  second.connections = 1;
  server_status third;
  third.server = "127.1.2.3:2181";
  third.error = "Connection refused";
  return {first, second, third};
}

std::vector<election_status> elections() {
  election_status calm;
  calm.path = "/billing/consumer";
  calm.epoch = 7;
  calm.phase = "executing";
  calm.since = noon() - 125s;
  calm.leader = candidate_status{"worker-1", 0, 4294967321, 0x100001a2b3c0001, "_c_11-latch-0000000004"};
  calm.waiters = {{"worker-2", 1, 4294967330, 0x100001a2b3c0002, "_c_22-latch-0000000005"},
                  {"worker-3", 2, 4294967334, 0x200001a2b3c0001, "_c_33-latch-0000000006"}};
  calm.takeover = "clean";
  election_status busy;
  busy.path = "/mail/sender";
  busy.epoch = 12;
  busy.phase = "handing_over";
  busy.since = noon() - 1200ms;
  busy.leader = candidate_status{"sender-a", 0, 4294967400, 0x100001a2b3c0003, "_c_44-latch-0000000000"};
  busy.waiters = {{"sender-b", 1, 4294967410, 0x100001a2b3c0004, "_c_55-latch-0000000001"}};
  busy.hand_over = hand_over_status{"sender-a", "sender-b", "finishing", 1200ms, 10'000ms};
  busy.takeover = "forced";
  election_status foreign;
  foreign.path = "/other";
  foreign.phase = foreign_phase;
  return {calm, busy, foreign};
}

std::vector<election_status> troubles() {
  election_status abandoned;
  abandoned.path = "/orders/consumer";
  abandoned.epoch = 4;
  abandoned.phase = "executing";
  abandoned.since = noon() - 90s;
  abandoned.takeover = "clean";
  election_status deaf = elections()[0];
  deaf.path = "/parcels/consumer";
  deaf.resignation_asked = 9'000ms;
  election_status refused;
  refused.path = "/secret";
  refused.phase = refused_phase;
  return {abandoned, deaf, refused};
}

cluster_status cluster() {
  election_survey survey;
  survey.found = elections();
  return {servers(), survey};
}

model dashboard() {
  model state;
  state.title = "127.1.2.1:2181,127.1.2.2:2181,127.1.2.3:2181";
  auto earlier = servers();
  earlier[2] = earlier[0];
  earlier[2].server = "127.1.2.3:2181";
  auto before = elections();
  before[1].phase = "executing";
  before[1].hand_over.reset();
  update(state, servers_seen{earlier}, noon() - 4s);
  update(state, elections_seen{{before}}, noon() - 4s);
  update(state, servers_seen{servers()}, noon() - 2s);
  update(state, elections_seen{{elections()}}, noon() - 1s);
  update(state, time_passed{}, noon());
  return state;
}

effect type(model& state, const std::u32string& keys) {
  effect last = effect::none;
  for (const stroke each : keys) last = update(state, key_pressed{each}, state.now);
  return last;
}

using zkrecipes::shard_group_view;
using zkrecipes::term_phase;

namespace {

const std::string node_1 = "_c_11-member-0000000001";
const std::string node_2 = "_c_22-member-0000000002";
const std::string node_of_the_dead = "_c_33-member-0000000003";

std::int64_t before_noon(std::chrono::milliseconds age) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(noon().time_since_epoch() - age).count();
}

zkrecipes::shard_view shard(std::uint32_t number, const std::string& to) {
  zkrecipes::shard_view one;
  one.number = number;
  one.assigned_to = to;
  return one;
}

zkrecipes::shard_view owned(std::uint32_t number, const std::string& id, const std::string& node) {
  auto one = shard(number, node);
  one.epoch = 2;
  one.phase = term_phase::executing;
  one.owner = id;
  one.owner_node = node;
  one.since = before_noon(90s);
  return one;
}

}  // namespace

shard_group_view group_view() {
  shard_group_view view;
  view.count = 12;
  view.is_frozen = true;
  view.members = {{node_1, "orders-1", "10.0.0.7:8080", 1, false, "", 0, 17, {}},
                  {node_2, "orders-2", "", 0.5, true, "", 0, 17, {}}};
  view.away = {{"orders-4", 10s, {8, 9}, before_noon(4s)}};
  for (std::uint32_t i = 0; i < 4; ++i) view.shards.push_back(owned(i, "orders-1", node_1));
  view.shards.push_back(owned(4, "orders-2", node_2));
  view.shards.push_back(owned(5, "orders-2", node_2));  // on the way
  view.shards[5].assigned_to = node_1;
  view.shards[5].phase = term_phase::handing_over;
  view.shards[5].since = before_noon(1200ms);
  view.shards.push_back(owned(6, "orders-3", node_of_the_dead));
  view.shards[6].assigned_to = node_1;
  view.shards.push_back(shard(7, node_2));
  view.shards.push_back(shard(8, ""));
  view.shards.push_back(shard(9, ""));
  view.shards.push_back(owned(10, "orders-3", node_of_the_dead));
  view.shards[10].is_in_quarantine = true;
  view.shards[10].assigned_to.clear();
  view.shards[10].quarantine = {3, "orders-3"};
  view.shards.push_back(shard(11, ""));
  return view;
}

group_status group() { return status_of("/orders", group_view(), {"orders-1"}, noon()); }

group_survey groups() {
  group_status quiet;
  quiet.path = "/parcels";
  quiet.shards = 256;
  quiet.unassigned = {0, 1, 2};
  group_survey all;
  all.found = {group(), quiet};
  return all;
}

stream_status log_of_orders() {
  stream_shard_status broken, good;
  broken.shard = 3;
  broken.is_damaged = true;
  good.last = "17-3";
  good.ahead = {"18-0 19-2"};
  good.failed = 1;
  stream_status orders{"/orders", "redis_streams", "orders", 4, 1};
  orders.groups = {{"audit", {broken}, 2}, {"billing", {good}, 0}};
  orders.broker = broker_status();
  orders.broker->depths = {{0, "billing", 10'000, true, 400s}, {1, "billing", 17, false, 2s}, {0, "audit", 0}};
  return orders;
}

stream_status queues_of_jobs() {
  stream_shard_status first, second;
  first.runs = {{"shop", "8589934601", "1-29"}};
  second.shard = 1;
  second.names = 2;
  stream_status jobs{"/jobs", "rabbit_queues", "jobs", 3, 0};
  jobs.groups = {{"consumers", {first, second}, 0}};
  jobs.broker = broker_status();
  auto& depths = jobs.broker->depths;
  depths = {{0, "", 12}, {1, ""}, {2, ""}};
  depths[0].consumers = 0;
  depths[1].is_missing = true;
  depths[2].consumers = 1;
  return jobs;
}

stream_status without_broker() {
  stream_status quiet{"/quiet", "rabbit_queues", "quiet", 1, 0};
  quiet.broker = broker_status{"it does not answer", true, {}};
  return quiet;
}

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
  seen.elections->found = sick_elections();
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

recipe_status drained_service() {
  recipe_status service;
  service.path = "/services/mail";
  service.kinds = {recipe::service};
  service.is_declared = true;
  service.participants = {{"instance", "1", "1"}, {"instance", "2", "2"}};
  service.facts = {{"instances", std::int64_t(2)}, {"draining", std::int64_t(2)}};
  return service;
}

queue_status queue_with_a_parked_key() {
  queue_status queue;
  queue.path = "/parked";
  queue.parked_keys = 1;
  queue.parked_key = "customer-3";
  queue.parked_for = 3min;
  return queue;
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

findings deserted() {
  auto seen = healthy();
  auto ended = calm_at("/billing/consumer");
  ended.phase = "retired";
  ended.leader.reset();
  ended.waiters.clear();
  ended.empty_for = 40s;
  group_status empty;
  empty.path = "/group/shards";
  empty.shards = 2;
  empty.unassigned = {0, 1};
  empty.deserted_for = 50s;
  auto dead = empty;
  dead.path = "/parcels";
  dead.has_open_terms = true;
  auto forgetful = failing_group();
  forgetful.unassigned = {5};
  forgetful.unassigned_for = 3min;
  seen.elections->found = {ended};
  seen.groups->found = {empty, dead, forgetful};
  return seen;
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
