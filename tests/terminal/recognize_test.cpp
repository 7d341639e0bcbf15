#include "cluster/recognize.hpp"

#include <string>

#include <boost/test/unit_test.hpp>

using namespace zkadmin;

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
