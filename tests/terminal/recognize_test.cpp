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

BOOST_AUTO_TEST_CASE(term_records) {
  BOOST_TEST(is_term_record(R"({"zkrecipes":"term","epoch":1})"));
  BOOST_TEST(is_term_record(R"({"later":[],"phase":"draining","zkrecipes":"term"})"));
  BOOST_TEST(is_term_record("{\"zkrecipes\":\"term\",\"leader\":{\"id\":\"\xff\xfe\"}}"));
  for (const char* other : {"", "term", "{", "[]", "{}", R"({"zkrecipes":"queue"})", R"({"zkrecipes":1})", "\xff\xfe",
                            R"({"zkrecipes":"term"} x)"})
    BOOST_TEST(!is_term_record(other), other);
  BOOST_TEST(!is_term_record(std::string(100'000, '[')));
}

BOOST_AUTO_TEST_SUITE_END()
