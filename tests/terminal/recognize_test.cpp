#include "cluster/recognize.hpp"

#include <string>

#include <boost/test/unit_test.hpp>

#include "cluster/queue.hpp"
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
