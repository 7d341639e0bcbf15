// Recipes from their nodes: which they are, and their states.
#include <string>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "cluster/line_status.hpp"
#include "cluster/queue.hpp"
#include "cluster/recipe_reader.hpp"
#include "cluster/recipe_status.hpp"
#include "cluster/recognize.hpp"
#include "cluster/shared_status.hpp"
#include "cluster/tree_search.hpp"

using namespace zkadmin;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(recognize)

BOOST_AUTO_TEST_CASE(candidates) {
  BOOST_TEST(is_candidate_name("_c_6c254eae-e9d0-2e7f-e2b1-3aea3aa596e6-latch-0000000012"));
  BOOST_TEST(is_candidate_name("_c_x-latch-0000000000"));
  for (const char* other :
       {"", "_c_", "_c_-latch-0000000000", "_c_x-lock-0000000000", "_c_x-latch-000000000", "_c_x-latch-00000000a0",
        "x-latch-0000000000", "_c_x-latch--000000001", "latch-0000000000", "qn-0000000000"})
    BOOST_TEST(!is_candidate_name(other), other);
}

BOOST_AUTO_TEST_CASE(nodes_that_can_be_no_election) {
  for (const char* leaf : {"qn-0000000001", "entry-100-0000000001", "_claim-qn-0000000001", "_c_x-lock-0000000001",
                           "at-0000017325-0000000001", "6c254eaee9d0__lock__0000000003", "_c_x-latch-0000000012"})
    BOOST_TEST(is_leaf_name(leaf), leaf);
  for (const char* other : {"", "qn-", "qn-1", "jobs", "job-0000000001", "_c_", "atlas", "0000000001", "entry"})
    BOOST_TEST(!is_leaf_name(other), other);
}

BOOST_AUTO_TEST_CASE(recipes_by_their_data) {
  BOOST_TEST((recipe_of(R"({"zkrecipes":"term","epoch":1})") == recipe::election));
  BOOST_TEST((recipe_of(R"({"later":[],"phase":"draining","zkrecipes":"term"})") == recipe::election));
  BOOST_TEST((recipe_of("{\"zkrecipes\":\"term\",\"leader\":{\"id\":\"\xff\xfe\"}}") == recipe::election));
  BOOST_TEST((recipe_of(R"({"zkrecipes":"shards","count":256,"hash":"crc32"})") == recipe::shard_group));
  BOOST_TEST((recipe_of(R"({"zkrecipes":"topic","count":16,"hash":"crc32"})") == recipe::topic));
  for (const std::string each : {"redis_streams", "rabbit_queues", "external_log", "external_queue"})
    BOOST_TEST((recipe_of(R"({"zkrecipes":")" + each + "\"}") == recipe::stream), each);
  BOOST_TEST((recipe_of(R"({"zkrecipes":"rabbit_producer"})") == recipe::none), "it is a part of queues");
  BOOST_TEST((recipe_of(R"({"zkrecipes":"two_phase_commit","layout":2})") == recipe::two_phase_commit));
  for (const char* other : {"", "term", "{", "[]", "{}", R"({"zkrecipes":"queue"})", R"({"zkrecipes":1})", "\xff\xfe",
                            R"({"zkrecipes":"term"} x)"})
    BOOST_TEST((recipe_of(other) == recipe::none), other);
  BOOST_TEST((recipe_of(std::string(100'000, '[')) == recipe::none));
}

BOOST_AUTO_TEST_CASE(the_inside_of_a_group_is_no_election_but_that_of_its_planners) {
  for (const char* part : {"member", "away", "shard", "quarantine", "frozen", "map"}) {
    BOOST_TEST(is_part_of(recipe::shard_group, part), part);
    BOOST_TEST(!is_part_of(recipe::none, part), part);
    BOOST_TEST(!is_part_of(recipe::election, part), part);
  }
  for (const char* other : {"_planner", "", "members", "orders"})
    BOOST_TEST(!is_part_of(recipe::shard_group, other), other);
}

BOOST_AUTO_TEST_CASE(the_inside_of_a_two_phase_commit_is_no_election_but_that_of_its_coordinators) {
  for (const char* part : {"order-17", "_undecided", "_decided"})
    BOOST_TEST(is_part_of(recipe::two_phase_commit, part), part);
  BOOST_TEST(!is_part_of(recipe::two_phase_commit, "_coordinator"));
}

BOOST_AUTO_TEST_CASE(the_inside_of_a_topic) {
  for (const char* part : {"0000", "0017", "9999", "_producers", "_dead"}) {
    BOOST_TEST(is_part_of(recipe::topic, part), part);
    BOOST_TEST(is_part_of(recipe::stream, part), part);
    BOOST_TEST(!is_part_of(recipe::shard_group, part), part);
  }
  for (const char* other : {"", "1", "00000", "000x", "dead"}) BOOST_TEST(!is_part_of(recipe::topic, other), other);
}

BOOST_AUTO_TEST_SUITE_END()

// What the names of a queue's nodes tell.

BOOST_AUTO_TEST_SUITE(queue_names_test)

BOOST_AUTO_TEST_CASE(items_in_order_of_arrival) {
  const auto fifo = read_names({"qn-0000000012", "qn-0000000007", "_claim-qn-0000000007", "_dead", "_idle", "other"});
  BOOST_TEST(fifo.items == 2u);
  BOOST_TEST(fifo.claimed == 1u);
  BOOST_TEST(fifo.oldest == "qn-0000000007");
  BOOST_TEST(!fifo.due.has_value());
  // The first by priority need not be the oldest.
  const auto priority = read_names({"entry-001-0000000009", "entry-100-0000000003", "entry-100-0000000004"});
  BOOST_TEST(priority.items == 3u);
  BOOST_TEST(priority.oldest == "entry-100-0000000003");
}

BOOST_AUTO_TEST_CASE(items_of_a_delay_queue_are_due_at_a_time) {
  const auto names = read_names({"at-0000001728043200-0000000001", "at-0000001728043100-0000000002"});
  BOOST_TEST(names.items == 2u);
  BOOST_TEST(names.oldest == "at-0000001728043100-0000000002");
  BOOST_TEST_REQUIRE(names.due.has_value());
  BOOST_TEST((*names.due == 1728043100ms));
}

BOOST_AUTO_TEST_CASE(a_root_that_is_missing_is_named) {
  BOOST_TEST(std::string(missing_root("/jobs").what()) ==
             "the root /jobs does not exist; give another one with --root");
  BOOST_TEST(std::string(missing_root("/").what()) ==
                 "the path behind the addresses in hosts does not exist; give another one",
             "the server's own root is always there");
}

BOOST_AUTO_TEST_CASE(other_names_are_no_items) {
  const auto names = read_names({"", "qn-", "qn-12", "xqn-0000000001", "entry-1-0000000001", "at-1-0000000001",
                                 "entry-0000000001", "at-0000000001", "_end-x-0000000001", "0000000001"});
  BOOST_TEST(names.items == 0u);
  BOOST_TEST(names.claimed == 0u);
  BOOST_TEST(names.oldest == "");
}

// Effects that are named after their messages. The queue has numbered other nodes, too, so its numbers run ahead.
BOOST_AUTO_TEST_CASE(numbers_that_a_folder_has_not_given_are_those_of_another_one) {
  BOOST_TEST(are_borrowed({"qn-0000000001", "qn-0000000002"}, 2));
  BOOST_TEST(are_borrowed({"at-0000001728043200-0000000007", "other"}, 2));
  BOOST_TEST(!are_borrowed({"qn-0000000001", "qn-0000000002"}, 3));
  BOOST_TEST(!are_borrowed({"qn-0000000000"}, 1));
  BOOST_TEST(!are_borrowed({"qn-0000000007", "_producer-shop"}, 2), "a queue that was copied");
  BOOST_TEST(!are_borrowed({"qn-2147483647"}, 0x80000000), "all numbers are used up");
  BOOST_TEST(!are_borrowed({"other"}, 1));
}

BOOST_AUTO_TEST_SUITE_END()

// The states of recipes from their nodes: who holds, who waits, and what can not be told apart.

namespace {

const std::string guid = "_c_6c254eae-e9d0-2e7f-e2b1-3aea3aa596e6-";
constexpr std::int64_t first_session = 0x100;

zkrecipes::node_stat stat_of(std::int64_t session, std::int64_t token) {
  zkrecipes::node_stat stat;
  stat.czxid = token;
  stat.ctime = 1'000;
  stat.ephemeral_owner = session;
  return stat;
}

/// The members have the sessions 0x100, 0x101, ...
node_line node_line_of(std::vector<std::pair<std::string, std::string>> members, std::string root = "") {
  node_line line;
  line.path = "/r";
  line.root.data = std::move(root);
  line.now = 3s;
  for (auto& [name, data] : members) {
    const auto number = static_cast<std::int64_t>(line.members.size());
    line.members.push_back({std::move(name), std::move(data), stat_of(first_session + number, 50 + number), false});
  }
  return line;
}

/// "a:holder b:waiter(read)".
std::string parts_of(const recipe_status& status) {
  std::string text;
  for (const auto& each : status.participants)
    text += (text.empty() ? "" : " ") + label(each) + ":" + each.role +
            (each.detail.empty() ? "" : "(" + each.detail + ")");
  return text;
}

std::string lock_node(int number) { return guid + "lock-000000000" + std::to_string(number); }
std::string permit_node(int number, int weight) {
  return guid + std::to_string(weight) + "-permit-000000000" + std::to_string(number);
}
std::string round_node(char who, int size, int number) {
  return std::string("_c_6c254eae-e9d0-2e7f-e2b1-3aea3aa596e") + who + "-" + std::to_string(size) +
         "-member-000000000" + std::to_string(number);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(recipe_states)

BOOST_AUTO_TEST_CASE(the_first_in_line_holds_a_lock) {
  const auto line = node_line_of({{lock_node(1), R"({"zkrecipes":"member","id":"a","revocable":true,"revoke":true})"},
                                  {lock_node(2), R"({"zkrecipes":"member","id":"b","revocable":true})"},
                                  {lock_node(3), "10.0.0.3"}});
  const auto lock = lock_of(line, false);
  BOOST_TEST(kind_text(lock) == "lock");
  BOOST_TEST(parts_of(lock) == "a:holder(asked to give up) b:waiter 10.0.0.3:waiter");
  BOOST_TEST(lock.state == "held");
  BOOST_TEST(lock.holder == "a");
  BOOST_TEST(lock.client == "zkrecipes, Curator or zkrecipes");
  BOOST_TEST((lock.session == 0x100 && lock.waiting == 2u && lock.age == 2s));
  BOOST_TEST((lock.participants[1].token == 51 && lock.participants[1].position == 1));
  BOOST_TEST(lock_of(node_line_of({}), true).state == "free");
  BOOST_TEST(lock_of(node_line_of({}), true).holder.empty());
}

BOOST_AUTO_TEST_CASE(long_data_of_a_foreign_member_is_no_long_id) {
  const auto lock = lock_of(node_line_of({{lock_node(1), std::string(1'000'000, 'x')}}), true);
  BOOST_TEST(lock.holder == std::string(256, 'x') + "... (1000000 bytes)");
}

BOOST_AUTO_TEST_CASE(a_grace_is_told) {
  const auto lock = lock_of(
      node_line_of(
          {{lock_node(1), R"({"zkrecipes":"member","id":"a","revocable":true,"revoke":true,"grace_ms":5000})"}}),
      false);
  BOOST_TEST(lock.participants[0].detail == "asked to give up within 5.0 s");
}

BOOST_AUTO_TEST_CASE(what_looks_like_a_lock_and_may_be_something_else) {
  const std::string kazoos = "6c254eaee9d02e7fe2b13aea3aa596e6__lock__0000000001";
  BOOST_TEST(kind_text(lock_of(node_line_of({{lock_node(1), "10.0.0.3"}}), false)) == "lock or election");
  BOOST_TEST(kind_text(lock_of(node_line_of({{kazoos, "x"}}), false)) == "lock or read-write lock or election");
  BOOST_TEST(kind_text(lock_of(node_line_of({{kazoos, "x"}}), true)) == "lock", "declared");
  BOOST_TEST(kind_text(lock_of(node_line_of({{lock_node(1), R"({"zkrecipes":"candidate","id":"a"})"}}), false)) ==
             "election");
}

BOOST_AUTO_TEST_CASE(members_behind_the_first_ones_are_counted) {
  auto line = node_line_of({{lock_node(1), "a"}});
  for (int i = 2; i < 6; ++i) line.members.push_back({lock_node(i)});
  const auto lock = lock_of(line, true);
  BOOST_TEST((lock.waiting == 4u && lock.not_read == 4u && lock.participants.size() == 1u));
}

BOOST_AUTO_TEST_CASE(a_node_of_no_session_is_an_orphan) {
  auto line = node_line_of({{lock_node(1), "a"}, {lock_node(2), "b"}});
  line.members[0].stat->ephemeral_owner = 0;
  line.members[1].is_refused = true;
  const auto lock = lock_of(line, true);
  BOOST_TEST((lock.participants[0].is_orphan && !lock.participants[1].is_orphan));
  BOOST_TEST(!lock.participants[1].is_readable);
  for (const std::uint64_t owner : {0x8000000000000000u, 0xff00000000001388u}) {  // a container, and a time to live
    line.members[0].stat->ephemeral_owner = static_cast<std::int64_t>(owner);
    BOOST_TEST(lock_of(line, true).participants[0].is_orphan);
  }
}

BOOST_AUTO_TEST_CASE(readers_together_and_writers_alone) {
  const std::string r = guid + "__READ__000000000", w = guid + "__WRIT__000000000";
  const auto reading =
      read_write_lock_of(node_line_of({{r + "1", "a"}, {r + "2", "b"}, {w + "3", "c"}, {r + "4", "d"}}));
  BOOST_TEST(parts_of(reading) == "a:holder(read) b:holder(read) c:waiter(write) d:waiter(read)");
  BOOST_TEST(reading.state == "held for reading");
  BOOST_TEST((reading.holder == "2 holders" && reading.waiting == 2u && !reading.session));
  const auto writing = read_write_lock_of(node_line_of({{w + "1", "a"}, {w + "2", "b"}}));
  BOOST_TEST(parts_of(writing) == "a:holder(write) b:waiter(write)");
  BOOST_TEST(writing.holder == "a");
  const auto passed = read_write_lock_of(node_line_of(
      {{w + "1", R"({"zkrecipes":"member","id":"a","shared":true})"}, {r + "2", "b"}, {w + "3", "c"}, {r + "4", "d"}}));
  BOOST_TEST(parts_of(passed) == "a:holder(write, downgraded) b:holder(read) c:waiter(write) d:waiter(read)");
  BOOST_TEST(read_write_lock_of(node_line_of({})).state == "free");
}

BOOST_AUTO_TEST_CASE(permits_of_a_semaphore) {
  const std::string size3 = R"({"zkrecipes":"semaphore","recipe":"semaphore","size":3})";
  const auto semaphore =
      semaphore_of(node_line_of({{permit_node(1, 2), "a"}, {permit_node(2, 2), "b"}, {permit_node(3, 1), "c"}}, size3));
  BOOST_TEST(parts_of(semaphore) == "a:holder(2 permits) b:waiter(2 permits) c:waiter(1 permit)");
  BOOST_TEST((semaphore.size == 3 && semaphore.taken == 2 && semaphore.waiting == 2u && semaphore.holder == "a"));
  BOOST_TEST(semaphore.state == "free");
  const auto full = semaphore_of(node_line_of({{permit_node(1, 3), "a"}}, size3));
  BOOST_TEST(full.state == "full");
}

// The mark in its data says that a member was let in before there were fewer permits.
BOOST_AUTO_TEST_CASE(a_semaphore_that_was_resized_to_fewer_permits) {
  const std::string size1 = R"({"zkrecipes":"semaphore","recipe":"semaphore","size":1,"before":3})";
  const auto over = semaphore_of(node_line_of({{permit_node(1, 1), "a"},
                                               {permit_node(2, 1), R"({"zkrecipes":"member","id":"b","shared":true})"},
                                               {permit_node(3, 1), "c"}},
                                              size1));
  BOOST_TEST(parts_of(over) == "a:holder(1 permit) b:holder(1 permit) c:waiter(1 permit)");
  BOOST_TEST((over.size == 1 && over.taken == 2));
}

BOOST_AUTO_TEST_CASE(a_semaphore_that_can_not_be_understood_or_was_not_used) {
  BOOST_TEST(
      (semaphore_of(node_line_of({}, R"({"zkrecipes":"semaphore","size":0})")).access == recipe_access::foreign_data));
  BOOST_TEST((semaphore_of(node_line_of({}, "garbage")).access == recipe_access::foreign_data));
  BOOST_TEST(semaphore_of(node_line_of({})).state == "not used yet");
  const auto unknown = semaphore_of(node_line_of({{permit_node(1, 1), "a"}}));
  BOOST_TEST(unknown.state == "size not known");
  BOOST_TEST(parts_of(unknown) == "a:member(1 permit)");
}

BOOST_AUTO_TEST_CASE(the_round_of_a_double_barrier) {
  const auto gathering = double_barrier_of(node_line_of({{round_node('a', 3, 1), "a"}, {round_node('b', 3, 2), "b"}}));
  BOOST_TEST(gathering.state == "gathering");
  BOOST_TEST((gathering.size == 3 && gathering.taken == 2 && gathering.waiting == 2u));
  const auto open = double_barrier_of(node_line_of(
      {{round_node('a', 1, 1), "a"}, {round_node('b', 2, 2), "b"}},
      R"({"zkrecipes":"double_barrier","round":4,"members":["6c254eae-e9d0-2e7f-e2b1-3aea3aa596ea"],"places":[1]})"));
  BOOST_TEST(open.state == "open");
  BOOST_TEST(parts_of(open) == "a:inside b:waiter");
  BOOST_TEST((open.facts[0] == recipe_fact{"round", std::int64_t(4)}));
  BOOST_TEST((double_barrier_of(node_line_of({}, "x")).access == recipe_access::foreign_data));
}

BOOST_AUTO_TEST_CASE(semaphores_of_curator_and_kazoo) {
  const auto leases = node_line_of({{guid + "lease-0000000001", "10.0.0.1"}});
  auto waiting = node_line_of({{lock_node(2), "10.0.0.2"}});
  const auto unsure = curators_semaphore_of("/c", leases, waiting);
  BOOST_TEST(parts_of(unsure) == "10.0.0.1:holder or waiter 10.0.0.2:waiter", "its session is in line, too");
  BOOST_TEST((!unsure.taken && unsure.facts[1] == recipe_fact{"taken", {}} && unsure.holder.empty()));
  waiting.members[0].stat->ephemeral_owner = 0x200;
  const auto curators = curators_semaphore_of("/c", leases, waiting);
  BOOST_TEST(parts_of(curators) == "10.0.0.1:holder 10.0.0.2:waiter");
  BOOST_TEST((curators.path == "/c" && curators.client == "Curator" && !curators.size && curators.taken == 1));
  BOOST_TEST((curators.facts[0] == recipe_fact{"size", {}}), "nobody stores it");
  const auto kazoos =
      kazoos_semaphore_of(node_line_of({{"6c254eaee9d02e7fe2b13aea3aa596e6", "w"}}, "1"), node_line_of({}));
  BOOST_TEST((kazoos.client == "kazoo" && kazoos.size == 1 && kazoos.taken == 1 && kazoos.state == "full"));
  BOOST_TEST(!kazoos_semaphore_of(node_line_of({}, "x"), node_line_of({})).size);
}

BOOST_AUTO_TEST_CASE(a_barrier_is_its_node) {
  BOOST_TEST(barrier_of("/b", std::nullopt, 3s).state == "lifted");
  BOOST_TEST(barrier_of("/b", zkrecipes::node_data{R"({"zkrecipes":"barrier"})", stat_of(0, 1)}, 3s).state == "raised");
  BOOST_TEST(barrier_of("/b", zkrecipes::node_data{"10.0.0.1", stat_of(0, 1)}, 3s).state == "raised");
  BOOST_TEST((barrier_of("/b", zkrecipes::node_data{R"({"zkrecipes":"term"})", stat_of(0, 1)}, 3s).access ==
              recipe_access::foreign_data));
}

BOOST_AUTO_TEST_CASE(members_are_certain_only_if_declared) {
  auto line = node_line_of({{"a", "x"}, {"b", "y"}});
  line.members[1].stat->ephemeral_owner = 0;
  const auto seen = membership_of(line, false);
  BOOST_TEST(kind_text(seen) == "membership or persistent node");
  BOOST_TEST(parts_of(seen) == "a:member(x)");
  BOOST_TEST(seen.state == "1 ephemeral node");
  const auto declared = membership_of(line, true);
  BOOST_TEST(kind_text(declared) == "membership");
  BOOST_TEST((declared.participants.size() == 2u && declared.participants[1].is_orphan));
  const auto uuids = membership_of(node_line_of({{"6c254eaee9d02e7fe2b13aea3aa596e6", ""}}), false);
  BOOST_TEST(kind_text(uuids) == "membership or persistent node or double barrier or semaphore");
  const auto party = membership_of(node_line_of({{"6c254eaee9d02e7fe2b13aea3aa596e6__party__", "x"}}), false);
  BOOST_TEST((kind_text(party) == "membership" && party.client == "kazoo"));
}

BOOST_AUTO_TEST_CASE(instances_of_a_service) {
  const std::string one =
      R"({"name":"mail","id":"1","address":"10.0.0.1","port":25,"registrationTimeUTC":1,"serviceType":"DYNAMIC",)"
      R"("enabled":false})";
  auto line = node_line_of({{"1", one}, {"2", one}, {"x", "garbage"}});
  line.members[1].stat->ephemeral_owner = 0;
  const auto service = service_of(line);
  BOOST_TEST(parts_of(service) == "1:instance(10.0.0.1:25, draining) 2:instance(10.0.0.1:25, draining)");
  BOOST_TEST((!service.participants[0].is_orphan && service.participants[1].is_orphan));
  BOOST_TEST((service.strangers == std::vector<std::string>{"x"}));
  BOOST_TEST(service.state == "2 instances");
}

BOOST_AUTO_TEST_CASE(a_persistent_node_and_its_session) {
  const auto node = persistent_node_of("/p", {"10.0.0.1", stat_of(0x77, 5)}, 3s);
  BOOST_TEST((node.state == "ephemeral" && node.session == 0x77 && node.age == 2s));
  BOOST_TEST(persistent_node_of("/p", {"", stat_of(0, 5)}, 3s).state == "persistent");
}

BOOST_AUTO_TEST_SUITE_END()

// The states of shared gates, calls once per period, shared balances and shared limiters, from their nodes.

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
