// What becomes of the transactions of a topic's producer that fail, or whose replies are lost.
#include <algorithm>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "unit/producing_topic.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(topic_producer_failures, producing_topic)

BOOST_AUTO_TEST_CASE(of_several_transactions_without_an_answer_the_record_tells_how_many_were_done) {
  for (const int done : {0, 1, 2, 3}) {
    puts.clear();
    auto by = ready_with_three_under_way();
    const auto record = last().pending.at(static_cast<std::size_t>(std::max(done, 1) - 1)).first.operations.at(0).data;
    const auto guid = record.substr(record.find(' '));
    reconnect();
    CHECK_PENDING("multi /", "get /t/_producers/p");
    answer();
    answer_data(std::to_string(1 + done) + guid);
    for (std::size_t i = 0; i < 4; ++i) BOOST_TEST(puts[i].done() == (static_cast<int>(i) <= done));
    for (int next = done + 2; next <= 4; ++next) {
      BOOST_TEST(land_first() == strings({std::string(head) + "0:,1:" + std::to_string(next) + ","}),
                 boost::test_tools::per_element());
    }
    for (std::size_t i = 0; i < 4; ++i) BOOST_TEST(puts[i].result<0>() == i + 1);
    CHECK_PENDING();
  }
}

BOOST_AUTO_TEST_CASE(a_transaction_that_is_refused_takes_none_of_those_behind_it_with_it) {
  auto by = ready_with_three_under_way();
  fail(errc::no_auth);
  for (int i = 0; i < 2; ++i) fail(errc::bad_version);
  BOOST_TEST_REQUIRE(puts[1].done());
  BOOST_TEST((puts[1].error() == errc::no_auth));
  const auto guid = " somebody's";
  CHECK_PENDING("multi /", "get /t/_producers/p");
  answer();
  answer_data(std::string("1") + guid);
  for (const auto* each : {"3", "4"}) {
    BOOST_TEST(land_first() == strings({std::string(head) + "0:,1:" + each + ","}), boost::test_tools::per_element());
  }
  BOOST_TEST(puts[2].result<0>() == 2u);
  BOOST_TEST(puts[3].result<0>() == 3u);
}

BOOST_AUTO_TEST_CASE(a_hole_in_front_of_what_was_done_is_not_taken_for_done) {
  auto by = ready_with_three_under_way();
  const auto record = last().pending.at(2).first.operations.at(0).data;
  fail(errc::bad_version);  // somebody has written the record by a single version
  for (int i = 0; i < 2; ++i) land_first();
  CHECK_PENDING("multi /", "get /t/_producers/p");
  answer();
  answer_data(record);
  for (std::size_t i = 1; i < 4; ++i) {
    BOOST_TEST_REQUIRE(puts[i].done());
    BOOST_TEST((puts[i].error() == errc::outcome_unknown));
  }
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(another_producer_ends_all_that_is_under_way) {
  auto by = ready_with_three_under_way();
  for (int i = 0; i < 3; ++i) fail(errc::bad_version);
  CHECK_PENDING("multi /", "get /t/_producers/p");
  answer();
  answer_data("7 somebody's");
  for (std::size_t i = 1; i < 4; ++i) {
    BOOST_TEST_REQUIRE(puts[i].done());
    BOOST_TEST((puts[i].error() == errc::superseded));
  }
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(what_was_put_before_a_refusal_is_counted) {
  auto by = ready({.max_batch = 1});
  auto& mine = put_all(by, {"1", "2", "3"});
  land();
  show_children(1);
  land_first();
  fail(errc::no_auth);
  BOOST_TEST_REQUIRE(mine.done());
  BOOST_TEST((mine.error() == errc::no_auth));
  BOOST_TEST(mine.result<0>() == 2u);
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_reply_that_was_lost_is_settled_by_the_record) {
  for (const bool was_done : {true, false}) {
    auto by = ready();
    auto& mine = put(by, "1");
    const auto data = last().pending.front().first.operations.at(0).data;
    reconnect();
    CHECK_PENDING("multi /", "get /t/_producers/p");
    answer();
    answer_data(was_done ? data : "0");
    if (!was_done) land();
    BOOST_TEST_REQUIRE(mine.done());
    BOOST_TEST(!mine.error());
    BOOST_TEST(mine.result<0>() == 1u);
    if (!was_done) continue;
    CHECK_PENDING();
  }
}

BOOST_AUTO_TEST_CASE(without_a_connection_puts_end_and_nothing_of_them_is_sent_later) {
  auto by = ready({.max_batch = 2});
  auto& before = put_all(by, {"1", "2", "3", "4", "5"});
  lose();
  auto& meanwhile = put(by, "6");
  advance(20s);
  auto& later = put_all(by, {"7", "8"});
  advance(9s);
  BOOST_TEST((!before.done() && !meanwhile.done()));
  advance(2s);
  BOOST_TEST_REQUIRE((before.done() && meanwhile.done()));
  BOOST_TEST((before.error() == errc::connection_loss && meanwhile.error() == errc::connection_loss));
  BOOST_TEST(!later.done());
  while (!last().open) advance(100ms);
  connect();
  CHECK_PENDING("multi /", "get /t/_producers/p");
  answer();
  answer_data("0");
  BOOST_TEST(land() == strings({std::string(head) + "0:,1:7,0:,1:8,"}), boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(later.done());
  BOOST_TEST(!later.error());
  BOOST_TEST(later.result<0>() == 2u);
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(what_may_be_done_late_is_sent_again_as_it_was) {
  auto by = ready_with_three_under_way();
  const auto late = last().pending.at(2).first.operations.at(0).data;
  const auto guid = late.substr(late.find(' '));
  land_first("2147483000");  // the shard takes no more batches
  reconnect();
  CHECK_PENDING("multi /", "get /t/_producers/p");
  answer();
  answer_data("2" + guid);
  CHECK_PENDING("multi /");
  fail(errc::bad_version);
  CHECK_PENDING("multi /", "get /t/_producers/p");
  answer();
  answer_data(late);
  for (std::size_t i = 0; i < 4; ++i) BOOST_TEST(puts[i].result<0>() == i + 1);
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(if_what_is_sent_again_is_refused_the_outcome_of_all_is_unknown) {
  auto by = ready_with_three_under_way();
  const auto record = last().pending.at(0).first.operations.at(0).data;
  reconnect();
  CHECK_PENDING("multi /", "get /t/_producers/p");
  answer();
  answer_data("1" + record.substr(record.find(' ')));
  CHECK_PENDING("multi /");
  fail(errc::no_auth);
  for (std::size_t i = 1; i < 4; ++i) {
    BOOST_TEST_REQUIRE(puts[i].done());
    BOOST_TEST((puts[i].error() == errc::outcome_unknown));
  }
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(what_was_done_behind_a_hole_is_not_counted_although_its_reply_was_lost) {
  auto by = ready_with_three_under_way();
  const auto done = last().pending.at(1).first.operations.at(0).data;
  fail(errc::bad_version);  // somebody has written the record by a single version
  reconnect();
  CHECK_PENDING("multi /", "get /t/_producers/p");
  answer();
  answer_data(done);
  for (std::size_t i = 1; i < 4; ++i) {
    BOOST_TEST_REQUIRE(puts[i].done());
    BOOST_TEST((puts[i].error() == errc::outcome_unknown));
  }
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_look_at_the_last_number_during_a_failure_does_not_bring_back_what_was_given_up) {
  auto by = ready();
  put(by, "1");
  const auto late = last().pending.front().first.operations.at(0).data;
  reconnect();
  CHECK_PENDING("multi /", "get /t/_producers/p");
  auto last_number = record<std::uint64_t>();
  by.async_last(last_number.token());
  settle();
  answer();
  fail(errc::no_auth);
  BOOST_TEST((puts[0].error() == errc::outcome_unknown));
  answer();
  answer_data("0");
  BOOST_TEST_REQUIRE(last_number.done());
  put(by, "2");
  const auto next = last().pending.front().first.operations.at(0).data;
  BOOST_TEST(next.substr(0, 2) == late.substr(0, 2));
  BOOST_TEST(next != late);
}

BOOST_AUTO_TEST_CASE(a_put_that_was_told_to_have_failed_and_is_done_late_is_not_taken_for_the_next) {
  auto by = ready();
  auto& told = put(by, "1");
  const auto late = last().pending.front().first.operations.at(0).data;
  reconnect();
  CHECK_PENDING("multi /", "get /t/_producers/p");
  answer();
  fail(errc::no_auth);
  BOOST_TEST_REQUIRE(told.done());
  BOOST_TEST((told.error() == errc::outcome_unknown));
  auto& next = put(by, "2");
  answer();
  answer_data("0");
  fail(errc::bad_version);
  CHECK_PENDING("multi /", "get /t/_producers/p");
  answer();
  answer_data(late);
  BOOST_TEST_REQUIRE(next.done());
  BOOST_TEST((next.error() == errc::superseded));
  CHECK_PENDING();
}

BOOST_AUTO_TEST_SUITE_END()
