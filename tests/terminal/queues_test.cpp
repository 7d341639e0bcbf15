// What the names of a queue's nodes tell.
#include <string>

#include <boost/test/unit_test.hpp>

#include "cluster/queue.hpp"
#include "cluster/tree_search.hpp"

using namespace zkadmin;
using namespace std::chrono_literals;

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
