// When a producer of a topic sends a transaction, what is in it, and what stops it.
#include <chrono>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "unit/producing_topic.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace std::chrono_literals;

BOOST_FIXTURE_TEST_SUITE(topic_producers, producing_topic)

BOOST_AUTO_TEST_CASE(what_is_put_while_a_transaction_is_in_flight_travels_in_the_next_one) {
  auto by = ready();
  put(by, "1");
  for (const auto* each : {"2", "3"}) put(by, each);
  BOOST_TEST(land() == strings({std::string(head) + "0:,1:1,"}), boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(puts[0].done());
  show_children(1);
  BOOST_TEST(land() == strings({std::string(head) + "0:,1:2,0:,1:3,"}), boost::test_tools::per_element());
  for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(puts[i].result<0>() == i + 1);
}

BOOST_AUTO_TEST_CASE(full_transactions_are_sent_behind_others_each_from_the_version_that_they_leave) {
  auto by = ready_with_three_under_way();
  const auto first = expected(0).at(0);
  BOOST_TEST(first == most_under_way);  // the first transaction had moved it by so many
  for (std::int32_t i = 0; i < 3; ++i) {
    BOOST_TEST(expected(static_cast<std::size_t>(i)) == std::vector{first + i}, boost::test_tools::per_element());
  }
  for (const auto* each : {"2", "3", "4"}) {
    BOOST_TEST(land_first() == strings({std::string(head) + "0:,1:" + each + ","}), boost::test_tools::per_element());
  }
  for (std::size_t i = 0; i < 4; ++i) BOOST_TEST(puts[i].result<0>() == i + 1);
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(the_first_transaction_behind_a_read_is_alone_and_moves_the_record_beyond_all_that_are_under_way) {
  auto by = ready({.max_batch = 1});
  for (const auto* each : {"1", "2", "3"}) put(by, each);
  CHECK_PENDING("multi /");
  const auto versions = expected(0);
  BOOST_TEST(versions.size() == static_cast<std::size_t>(most_under_way));
  for (std::size_t i = 0; i < versions.size(); ++i) BOOST_TEST(versions[i] == static_cast<std::int32_t>(i));
  land();
  show_children(1);
  CHECK_PENDING("multi /", "multi /");
}

BOOST_AUTO_TEST_CASE(a_look_at_the_last_number_changes_nothing_for_what_is_under_way) {
  auto by = ready_with_three_under_way();
  auto last_number = record<std::uint64_t>();
  by.async_last(last_number.token());
  settle();
  for (int i = 0; i < 3; ++i) land_first();
  CHECK_PENDING("multi /", "get /t/_producers/p");
  answer();
  backend::reply found;
  found.data = "9 somebody's";
  found.stat.version = 99;
  answer(std::move(found));
  BOOST_TEST(last_number.result<0>() == 9u);
  for (std::size_t i = 0; i < 4; ++i) BOOST_TEST(puts[i].result<0>() == i + 1);
  put(by, "5");
  CHECK_PENDING("multi /");
  BOOST_TEST(expected(0) == std::vector{most_under_way + 3}, boost::test_tools::per_element());  // what it knows itself
}

BOOST_AUTO_TEST_CASE(many_messages_are_put_with_one_call) {
  auto by = ready({.max_batch = 2});
  auto& mine = put_all(by, {"1", "2", "3", "4", "5"});
  put(by, "6");
  BOOST_TEST(land() == strings({std::string(head) + "0:,1:1,0:,1:2,"}), boost::test_tools::per_element());
  show_children(1);
  BOOST_TEST(land_first() == strings({std::string(head) + "0:,1:3,0:,1:4,"}), boost::test_tools::per_element());
  BOOST_TEST(!mine.done());
  BOOST_TEST(land() == strings({std::string(head) + "0:,1:5,0:,1:6,"}), boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(mine.done());
  BOOST_TEST(!mine.error());
  BOOST_TEST(mine.result<0>() == 5u);
  BOOST_TEST(puts[1].result<0>() == 6u);
  auto& none = put_all(by, {});
  BOOST_TEST_REQUIRE(none.done());
  BOOST_TEST(!none.error());
  auto& large = put_all(by, {"1", std::string(1'000'001, 'x')});
  BOOST_TEST_REQUIRE(large.done());
  BOOST_TEST((large.error() == errc::too_large));
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_call_ends_with_its_first_message_that_can_not_be_put) {
  auto by = ready({.max_batch = 2});
  auto& mine = put_all(by, {"1", "2", "3", "4", "5"});
  auto& next = put(by, "6");
  land();
  show_children(40'000);
  BOOST_TEST_REQUIRE(mine.done());
  BOOST_TEST((mine.error() == errc::full));
  BOOST_TEST(mine.result<0>() == 2u);
  BOOST_TEST_REQUIRE(next.done());
  BOOST_TEST((next.error() == errc::full));
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(numbers_that_run_out_are_told) {
  auto by = ready();
  put(by, "1");
  land("2147483000");
  BOOST_TEST(!puts[0].error());
  put(by, "2");
  show_children(1);
  BOOST_TEST_REQUIRE(puts[1].done());
  BOOST_TEST((puts[1].error() == errc::sequence_exhausted));
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_shard_whose_list_would_be_too_long_is_full_until_it_is_shorter) {
  auto by = ready();
  put(by, "1");
  land();
  put(by, "2");
  show_children(40'000);
  BOOST_TEST_REQUIRE(puts[1].done());
  BOOST_TEST((puts[1].error() == errc::full));
  put(by, "3");
  BOOST_TEST((puts[2].error() == errc::full));
  CHECK_PENDING();  // it is not looked at for each put
  advance(1s);
  settle();
  put(by, "4");
  show_children(39'999);
  land();
  BOOST_TEST_REQUIRE(puts[3].done());
  BOOST_TEST(puts[3].result<0>() == 2u);
}

BOOST_AUTO_TEST_CASE(a_message_is_too_large_before_anything_is_sent) {
  auto by = ready();
  put(by, std::string(1'000'001, 'x'));
  BOOST_TEST_REQUIRE(puts[0].done());
  BOOST_TEST((puts[0].error() == errc::too_large));
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_cancelled_put_ends_its_wait_once) {
  auto by = ready();
  auto& mine = put(by, "1");
  mine.cancel();
  settle();
  BOOST_TEST_REQUIRE(mine.done());
  BOOST_TEST((mine.error() == boost::asio::error::operation_aborted));
  BOOST_TEST(land() == strings({std::string(head) + "0:,1:1,"}), boost::test_tools::per_element());
  BOOST_TEST(mine.calls() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
