// The states of shared gates, calls once per period, shared balances and shared limiters, from their nodes.
#include <string>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "cluster/recipe_status.hpp"
#include "cluster/recognize.hpp"
#include "cluster/shared_status.hpp"

using namespace zkadmin;
using namespace std::chrono_literals;

namespace {

const std::string gate_guid = "_c_6c254eae-e9d0-2e7f-e2b1-3aea3aa596e6-";
const std::string hash_a(32, 'a'), hash_b(32, 'b');

std::string caller(const std::string& hash, const char* how, int number) {
  return gate_guid + hash + "-" + how + "-gate-000000000" + std::to_string(number);
}

/// Children with the sessions 0x100, 0x101, ..., written 1 s after the beginning of 1970.
node_line children_of(std::vector<std::pair<std::string, std::string>> members) {
  node_line line;
  line.path = "/r";
  line.now = 3s;
  for (auto& [name, data] : members) {
    zkrecipes::node_stat stat;
    stat.ctime = stat.mtime = 1'000;
    stat.ephemeral_owner = 0x100 + static_cast<std::int64_t>(line.members.size());
    line.members.push_back({std::move(name), std::move(data), stat, false});
  }
  return line;
}

zkrecipes::node_data node_with(std::string data) { return {std::move(data), {}}; }

std::string shares_of(const recipe_status& status) {
  std::string text;
  for (const auto& each : status.participants)
    text += (text.empty() ? "" : "; ") + label(each) + " " + each.role + " " + each.detail;
  return text;
}

fact_value fact(const recipe_status& status, const std::string& name) {
  for (const auto& each : status.facts)
    if (each.name == name) return each.value;
  return std::string("no such fact");
}

const std::string gate_root = R"({"zkrecipes":"shared_gate","buckets":64})";
const std::string once_root = R"({"zkrecipes":"once_per","per_ms":1000})";

}  // namespace

BOOST_AUTO_TEST_SUITE(shared_states)

BOOST_AUTO_TEST_CASE(the_first_caller_of_each_key_is_inside) {
  const auto one = children_of(
      {{caller(hash_a, "first", 1), "p"}, {caller(hash_b, "first", 2), "q"}, {caller(hash_a, "again", 3), "r"}});
  const auto gate = shared_gate_of("/g", node_with(gate_root), {one, children_of({})}, 0);
  BOOST_TEST(kind_text(gate) == "shared gate");
  BOOST_TEST(shares_of(gate) == "p holder key aaaaaaaa; q holder key bbbbbbbb; r waiter key aaaaaaaa, redelivered");
  BOOST_TEST((gate.state == "in use" && gate.holder == "2 holders" && gate.waiting == 1u));
  BOOST_TEST((fact(gate, "buckets") == fact_value(std::int64_t(64))));
  BOOST_TEST((fact(gate, "inside") == fact_value(std::int64_t(2))));
  BOOST_TEST(gate.participants[0].session.value() == 0x100);
}

BOOST_AUTO_TEST_CASE(what_is_not_known_of_a_gate) {
  const auto partly = shared_gate_of("/g", node_with(gate_root), {}, 3);
  BOOST_TEST(partly.state == "unknown");
  BOOST_TEST((fact(partly, "callers") == fact_value() && !partly.waiting));
  BOOST_TEST((fact(partly, "buckets_not_read") == fact_value(std::int64_t(3))));
  auto behind = children_of({{caller(hash_a, "first", 1), "p"}});
  behind.members.push_back({caller(hash_a, "first", 2)});
  behind.members.push_back({caller(hash_b, "first", 3)});
  const auto gate = shared_gate_of("/g", node_with(gate_root), {behind}, 0);
  BOOST_TEST((gate.not_read == 2u && gate.waiting == 1u && fact(gate, "inside") == fact_value(std::int64_t(2))));
  behind.members[0].stat->ephemeral_owner = 0;
  BOOST_TEST(shared_gate_of("/g", node_with(gate_root), {behind}, 0).participants[0].is_orphan);
  for (const char* foreign : {"x", R"({"zkrecipes":"shared_gate"})", R"({"zkrecipes":"shared_gate","buckets":1025})",
                              R"({"zkrecipes":"shared_gate","buckets":"64"})", R"({"zkrecipes":"shared_gate_2"})"})
    BOOST_TEST((shared_gate_of("/g", node_with(foreign), {}, 0).access == recipe_access::foreign_data), foreign);
  BOOST_TEST(shared_gate_of("/g", node_with(""), {}, 0).state == "not used yet");
  BOOST_TEST(shared_gate_of("/g", node_with(gate_root), {}, 0).state == "idle");
}

BOOST_AUTO_TEST_CASE(the_intents_of_the_last_period) {
  auto intents = children_of({{"u1", R"({"zkrecipes":"once_intent","key":"k1","id":"p","guid":"g","note":"n"})"},
                              {"u2", R"({"zkrecipes":"once_intent","key":"k2","id":"q","guid":"g","withdrawn":true})"},
                              {"u3", R"({"zkrecipes":"once_intent","key":"k3","id":"r","guid":"g"})"},
                              {"u4", "x"}});
  intents.members[2].stat->mtime = 500;
  const auto once = once_per_of("/o", node_with(once_root), {0, 1}, intents, 1500ms);
  BOOST_TEST(shares_of(once) == "p intent k1, n; q withdrawn k2; r void k3; u4 foreign ");
  BOOST_TEST(once.state == "called in this period");
  BOOST_TEST((fact(once, "period_length") == fact_value(std::chrono::milliseconds(1s))));
  BOOST_TEST((fact(once, "last_period_began") == fact_value(500ms)));
  BOOST_TEST((fact(once, "intents") == fact_value(std::int64_t(4))));
  BOOST_TEST(once_per_of("/o", node_with(once_root), {0, 1}, intents, 2500ms).state == "not called in this period");
  BOOST_TEST(once_per_of("/o", node_with(once_root), {}, std::nullopt, 0ms).state == "no calls");
  BOOST_TEST(once_per_of("/o", node_with(""), {}, std::nullopt, 0ms).state == "not used yet");
  for (const char* foreign : {"x", R"({"zkrecipes":"once_per"})", R"({"zkrecipes":"once_per","per_ms":0})",
                              R"({"zkrecipes":"once_per","per_ms":-5})"})
    BOOST_TEST((once_per_of("/o", node_with(foreign), {}, {}, 0ms).access == recipe_access::foreign_data), foreign);
  intents.members[0].is_refused = true;
  intents.members[0].data.clear();
  intents.members[1].stat.reset();
  const auto partly = once_per_of("/o", node_with(once_root), {1}, intents, 1500ms);
  BOOST_TEST((!partly.participants[0].is_readable && partly.participants[0].role == "intent" && partly.not_read == 1u));
  BOOST_TEST((periods_among({"_once_clock", "10", "9", "007", "x", ""}) == std::vector<std::int64_t>{9, 10}));
}

BOOST_AUTO_TEST_CASE(the_members_of_a_balance) {
  const auto limit = node_with(R"({"zkrecipes":"shared_balance","range":100,"limit":250})");
  auto members = children_of({{"aside-member-b", ""},
                              {"member-a", R"({"zkrecipes":"shared_balance_member","id":"a","floor":150})"},
                              {"member-b", R"({"zkrecipes":"shared_balance_member","id":"b","floor":180})"},
                              {"other", ""}});
  auto balance = shared_balance_of("/b", limit, members);
  BOOST_TEST(balance.state == "2 members");
  BOOST_TEST(shares_of(balance) == "a member floor 150; b member floor 180, aside: it can not read all members");
  BOOST_TEST((fact(balance, "limit") == fact_value(std::int64_t(250))));
  BOOST_TEST((fact(balance, "lowest_floor") == fact_value(std::int64_t(150))));
  members.members[1].data = R"({"zkrecipes":"shared_balance_member","id":"a"})";
  balance = shared_balance_of("/b", limit, members);
  BOOST_TEST((balance.participants[0].detail == "has just joined" && fact(balance, "lowest_floor") == fact_value()));
  members.members[2].is_refused = true;
  balance = shared_balance_of("/b", limit, members);
  BOOST_TEST((!balance.participants[1].is_readable && fact(balance, "lowest_floor") == fact_value()));
  members.members[1].stat->ephemeral_owner = 0;  // no member
  balance = shared_balance_of("/b", limit, members);
  BOOST_TEST((balance.state == "1 member" && balance.stranger_count == 1u));
  const auto headless = shared_balance_of("/b", std::nullopt, members);
  BOOST_TEST((headless.state == "its limit is missing" && fact(headless, "limit") == fact_value()));
  for (const char* foreign : {"x", R"({"zkrecipes":"shared_balance","range":100,"limit":50})", "{}"})
    BOOST_TEST((shared_balance_of("/b", node_with(foreign), members).access == recipe_access::foreign_data), foreign);
}

BOOST_AUTO_TEST_CASE(a_shard_group_that_may_be_a_limiter) {
  BOOST_TEST(rate_text("1000 in 1000000000 ns, burst 200").value() == "1000 in 1.0 s, burst 200");
  for (const char* other : {"", "10.0.0.7:8080", "1000 in 1000000000 ns, burst 200 and more", "1000 in 0 ns, burst 2",
                            "99999999999999999999999 in 1 ns, burst"})
    BOOST_TEST(!rate_text(other).has_value(), other);
  group_status group;
  group.path = "/limit";
  group.members.resize(2);
  group.members[0].data = group.members[1].data = "1000 in 1000000000 ns, burst 200";
  auto seen = recipe_status_of(group);
  describe_limiter(seen, recipe::shard_group, false);
  BOOST_TEST(kind_text(seen) == "shard group or shared limiter");
  BOOST_TEST(seen.participants[0].detail == "0 shards, 1000 in 1.0 s, burst 200");
  describe_limiter(seen, recipe::shared_limiter, true);
  BOOST_TEST(kind_text(seen) == "shared limiter", "declared");
  group.members[1].data = "x";
  auto mixed = recipe_status_of(group);
  describe_limiter(mixed, recipe::shard_group, false);
  BOOST_TEST(kind_text(mixed) == "shard group");
}

BOOST_AUTO_TEST_CASE(where_they_are) {
  BOOST_TEST((recipe_of(gate_root) == recipe::shared_gate && recipe_of(once_root) == recipe::once_per));
  BOOST_TEST((recipe_of(R"({"zkrecipes":"shared_balance"})") == recipe::shared_balance));
  BOOST_TEST((place_of(recipe::shared_balance, "/b/limit", {}) == recipe_place{recipe::shared_balance, "/b"}));
  auto all =
      paths_of({{"/b/limit", {recipe::shared_balance, "/b"}}, {"/b/members/x", {recipe::membership, "/b/members"}}});
  BOOST_TEST((all[recipe::shared_balance] == std::vector<std::string>{"/b"} && all[recipe::membership].empty()));
  BOOST_TEST((is_part_of(recipe::shared_gate, "17") && !is_part_of(recipe::shared_gate, "lock")));
  BOOST_TEST((is_part_of(recipe::once_per, "20000") && is_part_of(recipe::once_per, "_once_clock")));
  for (const auto each : {recipe::shared_gate, recipe::once_per, recipe::shared_balance, recipe::shared_limiter})
    BOOST_TEST((recipe_named(identifier_of(each)) == each), identifier_of(each));
}

BOOST_AUTO_TEST_SUITE_END()
