#include "sample_cluster.hpp"

#include <string>
#include <utility>
#include <vector>

namespace screens {

namespace {

using namespace std::chrono_literals;
using namespace zkadmin;

wall_time noon() { return wall_time{} + std::chrono::days(20'000) + 12h; }

server_status server(int number, server_role role, std::int64_t connections) {
  server_status one;
  one.server = "zk" + std::to_string(number) + ":2181";
  one.reachable = true;
  one.role = role;
  one.zxid = 0x100004e3f;
  one.connections = connections;
  one.outstanding = 0;
  one.nodes = 1'942;
  one.latency = latency_ms{0, 0.42, 12};
  one.version = "3.8.0";
  return one;
}

std::vector<server_status> servers(bool is_one_down) {
  std::vector<server_status> all{server(1, server_role::follower, 41), server(2, server_role::leader, 38),
                                 server(3, server_role::follower, 44)};
  if (!is_one_down) return all;
  server_status down;
  down.server = "zk3:2181";
  down.error = "Connection refused";
  all[2] = down;
  return all;
}

candidate_status candidate(const std::string& name, int position, int number) {
  return {name, position, 4'294'967'300 + number, 0x100001a2b3c0000 + number,
          "_c_5f0c1a9e-7d24-4b6f-8e13-0a2b4c6d8e" + std::to_string(10 + number) + "-latch-000000000" +
              std::to_string(number)};
}

election_status election(const std::string& path, const std::string& name, int waiters, std::chrono::seconds age) {
  election_status one;
  one.path = path;
  one.epoch = 7;
  one.phase = "executing";
  one.since = noon() - age;
  one.takeover = "clean";
  one.leader = candidate(name + "-1", 0, 1);
  for (int i = 1; i <= waiters; ++i) one.waiters.push_back(candidate(name + "-" + std::to_string(i + 1), i, i + 1));
  return one;
}

std::vector<election_status> elections(bool hands_over) {
  auto mail = election("/mail/sender", "sender", 2, 42min);
  if (hands_over) {
    mail.phase = "handing_over";
    mail.since = noon() - 6s;
    mail.hand_over = hand_over_status{"sender-1", "sender-2", "finishing", 6s, 20s};
  }
  auto lonely = election("/reports/nightly", "nightly", 0, 3h);
  if (hands_over) lonely.leader.reset();
  return {election("/billing/consumer", "billing", 2, 26h), std::move(mail), std::move(lonely),
          election("/search/indexer", "indexer", 3, 12min)};
}

shard_numbers shards(std::uint32_t first, std::uint32_t last) {
  shard_numbers all;
  for (auto i = first; i <= last; ++i) all.push_back(i);
  return all;
}

group_member_status member(int number, std::uint32_t first, std::uint32_t last) {
  group_member_status one;
  one.id = "orders-" + std::to_string(number);
  one.node =
      "_c_5f0c1a9e-7d24-4b6f-8e13-0a2b4c6d8e3" + std::to_string(number) + "-member-000000001" + std::to_string(number);
  one.plan = 31;
  one.data = "10.0.0." + std::to_string(number) + ":8080";
  one.owned = shards(first, last);
  return one;
}

group_survey groups() {
  group_status orders;
  orders.path = "/orders";
  orders.shards = 64;
  orders.planner = "orders-1";
  orders.members = {member(1, 0, 20), member(2, 21, 41), member(3, 42, 58)};
  orders.members[2].expected = {59, 60};
  orders.members[1].is_draining = true;
  orders.moves = {{59, "orders-2", false, "orders-3", "handing_over", 1200ms, 1300ms},
                  {60, "orders-4", true, "orders-3", "executing", 8s, 7s}};
  orders.quarantined = {{61, 5, "orders-4"}};
  orders.away = {{"orders-4", 30s, 12s, {62, 63}}};
  orders.waiting = {62, 63};
  group_status parcels;
  parcels.path = "/parcels";
  parcels.shards = 16;
  parcels.planner = "parcels-2";
  parcels.members = {member(1, 0, 7), member(2, 8, 15)};
  return {{orders, parcels}};
}

topic_survey topics() {
  topic_status orders;
  orders.path = "/shop/orders";
  orders.shards = 16;
  for (std::uint32_t i = 0; i < 16; ++i) orders.kept.push_back({i, 12 + i, 180 + 9 * i, 0ms});
  orders.groups = {{"audit", {{3, 4, 41, 9s}}, 0},
                   {"shipping", {{0, 1, 10, 1500ms}, {7, 3, 300, 6min}, {12, 1, 4, 800ms}}, 2}};
  topic_status mail;
  mail.path = "/shop/mail";
  mail.shards = 4;
  mail.groups = {{"sender", {}, 0}};
  return {{mail, orders}};
}

participant_status participant(const std::string& role, const std::string& id, int number, std::chrono::seconds age) {
  participant_status one{
      role, id,
      "_c_5f0c1a9e-7d24-4b6f-8e13-0a2b4c6d8e5" + std::to_string(number) + "-permit-000000000" + std::to_string(number)};
  one.position = number;
  one.session = 0x100001a2b3c0020 + number;
  one.token = 4'294'968'000 + number;
  one.age = age;
  return one;
}

recipe_status recipe_at(const std::string& path, recipe kind, const std::string& state, const std::string& holder,
                        std::optional<std::uint64_t> waiting, std::optional<std::chrono::milliseconds> age) {
  recipe_status one;
  one.path = path;
  one.kinds = {kind};
  one.client = "zkrecipes";
  one.state = state;
  one.holder = holder;
  one.waiting = waiting;
  one.age = age;
  return one;
}

recipe_survey recipes() {
  auto permits = recipe_at("/db/permits", recipe::semaphore, "full", "3 holders", 2, 14min);
  permits.size = permits.taken = 3;
  permits.facts = {{"size", std::int64_t(3)}, {"taken", std::int64_t(3)}};
  permits.participants = {participant("holder", "report-7", 0, 14min), participant("holder", "import-2", 1, 90s),
                          participant("holder", "import-5", 2, 8s), participant("waiter", "import-6", 3, 5s),
                          participant("waiter", "report-9", 4, 1s)};
  auto catalogue = recipe_at("/catalogue", recipe::read_write_lock, "held for reading", "2 holders", 1, 40s);
  auto outbox = recipe_at("/mail/outbox", recipe::queue, "waiting", "", 212, 4s);
  auto cron = recipe_at("/cron/lock", recipe::lock, "held", "cron-b", 1, 3min);
  cron.client = "Curator";
  return {{catalogue, cron, permits, outbox,
           recipe_at("/release/gate", recipe::barrier, "raised", "", std::nullopt, 2h),
           recipe_at("/services/billing", recipe::service, "2 instances", "", std::nullopt, std::nullopt),
           recipe_at("/start", recipe::double_barrier, "gathering", "", 3, std::nullopt)}};
}

commit_survey commits() {
  return {{{"/payments", {{"order-20931", 800ms}, {"order-20928", 2s}, {"order-20877", 4min}}},
           {"/refunds", {{"r-118", 1s}}}}};
}

void see_all(model& state, wall_time when) {
  update(state, groups_seen{groups()}, when);
  update(state, topics_seen{topics()}, when);
  update(state, commits_seen{commits()}, when);
  update(state, recipes_seen{recipes()}, when);
}

}  // namespace

model sample_cluster() {
  model state;
  state.title = "production";
  update(state, servers_seen{servers(false)}, noon() - 60s);
  update(state, elections_seen{{elections(false)}}, noon() - 59s);
  see_all(state, noon() - 50s);
  update(state, servers_seen{servers(true)}, noon() - 20s);
  update(state, elections_seen{{elections(true)}}, noon() - 6s);
  see_all(state, noon() - 1s);
  update(state, time_passed{}, noon());
  return state;
}

}  // namespace screens
