// When a producer of a topic sends a transaction, what is in it, and what stops it.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/consumer/topic.hpp>
#include <zkrecipes/consumer/topic_producer.hpp>

#include "unit/fake_session.hpp"

namespace zkrecipes::test {

// A topic with one shard and a producer; a test answers what they ask the servers.

struct producing_topic : fake_session {
  static constexpr std::int32_t most_under_way = 32;
  static constexpr const char* head = "17:zkrecipes:batch:1,";

  producing_topic() { connect(); }

  /// A producer that has read its record.
  topic_producer ready(topic_producer_options options = {}) {
    topic_producer made(topic(zk, "/t", {.shards = 1}), "p", options);
    auto last_number = made.async_last(begun());
    finds_record("0");
    BOOST_TEST_REQUIRE((last_number.done() && !last_number.error()));
    return made;
  }
  void answer_data(std::string data) { answer_with({.data = std::move(data)}); }
  /// The producer reads its record, behind a catch-up.
  void finds_record(std::string data) {
    CHECK_PENDING("multi /", "get /t/_producers/p");
    answer();
    answer_data(std::move(data));
  }
  recorder<std::uint64_t>& put(topic_producer& by, const std::string& data) {
    puts.push_back(record<std::uint64_t>());
    by.async_put("", data, puts.back().token());
    settle();
    return puts.back();
  }
  recorder<std::uint64_t>& put_all(topic_producer& by, const strings& data) {
    std::vector<topic_message> all;
    for (const auto& each : data) all.push_back({"", each});
    puts.push_back(record<std::uint64_t>());
    by.async_put_all(std::move(all), puts.back().token());
    settle();
    return puts.back();
  }
  /// The server does what the only request asks for, and gives the batch this number. Returns the data of the batches.
  strings land(const std::string& number = "0000000007") {
    BOOST_TEST_REQUIRE(pending() == strings{"multi /"}, boost::test_tools::per_element());
    return land_first(number);
  }
  /// Does what `land` does, for the first of several requests.
  strings land_first(const std::string& number = "0000000007") {
    const auto& sent = last().pending.front().first.operations;
    backend::reply made;
    for (const auto& each : sent) {
      made.results.emplace_back();
      made.results.back().path = each.path + number;
      if (each.type == operation::kind::set) made.results.back().stat.version = each.version + 1;
    }
    strings batches;
    for (const auto& each : answer(made).operations) {
      if (each.type == operation::kind::create) batches.push_back(each.data);
    }
    return batches;
  }
  /// The versions of the record that the request expects.
  std::vector<std::int32_t> expected(std::size_t which) {
    std::vector<std::int32_t> all;
    for (const auto& each : last().pending.at(which).first.operations) {
      if (each.type == operation::kind::set) all.push_back(each.version);
    }
    return all;
  }
  /// A producer of single messages with three transactions under way, the messages 2 to 4, behind a first one.
  topic_producer ready_with_three_under_way() {
    auto by = ready({.max_batch = 1});
    put(by, "1");
    land();
    put(by, "2");
    show_children(1);
    for (const auto* each : {"3", "4"}) put(by, each);
    CHECK_PENDING("multi /", "multi /", "multi /");
    return by;
  }
  /// Answers the look at the shard.
  void show_children(std::int32_t count) {
    CHECK_PENDING("exists /t/0000");
    answer_with({.stat = {.num_children = count}});
  }

  std::deque<recorder<std::uint64_t>> puts;
};

}  // namespace zkrecipes::test

using namespace zkrecipes;
using namespace zkrecipes::test;

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
  auto last_number = by.async_last(begun());
  for (int i = 0; i < 3; ++i) land_first();
  CHECK_PENDING("multi /", "get /t/_producers/p");
  answer();
  answer_with({.data = "9 somebody's", .stat = {.version = 99}});
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
  BOOST_TEST_REQUIRE(succeeded(mine));
  BOOST_TEST(mine.result<0>() == 5u);
  BOOST_TEST(puts[1].result<0>() == 6u);
  auto& none = put_all(by, {});
  BOOST_TEST_REQUIRE(succeeded(none));
  auto& large = put_all(by, {"1", std::string(1'000'001, 'x')});
  BOOST_TEST_REQUIRE(ended_with(large, errc::too_large));
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_call_ends_with_its_first_message_that_can_not_be_put) {
  auto by = ready({.max_batch = 2});
  auto& mine = put_all(by, {"1", "2", "3", "4", "5"});
  auto& next = put(by, "6");
  land();
  show_children(40'000);
  BOOST_TEST_REQUIRE(ended_with(mine, errc::full));
  BOOST_TEST(mine.result<0>() == 2u);
  BOOST_TEST_REQUIRE(ended_with(next, errc::full));
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(numbers_that_run_out_are_told) {
  auto by = ready();
  put(by, "1");
  land("2147483000");
  BOOST_TEST(!puts[0].error());
  put(by, "2");
  show_children(1);
  BOOST_TEST_REQUIRE(ended_with(puts[1], errc::sequence_exhausted));
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_shard_whose_list_would_be_too_long_is_full_until_it_is_shorter) {
  auto by = ready();
  put(by, "1");
  land();
  put(by, "2");
  show_children(40'000);
  BOOST_TEST_REQUIRE(ended_with(puts[1], errc::full));
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
  BOOST_TEST_REQUIRE(ended_with(puts[0], errc::too_large));
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_cancelled_put_ends_its_wait_once) {
  auto by = ready();
  auto& mine = put(by, "1");
  mine.cancel();
  settle();
  BOOST_TEST_REQUIRE(ended_with(mine, boost::asio::error::operation_aborted));
  BOOST_TEST(land() == strings({std::string(head) + "0:,1:1,"}), boost::test_tools::per_element());
  BOOST_TEST(mine.calls() == 1);
}

BOOST_AUTO_TEST_SUITE_END()

// What becomes of the transactions of a topic's producer that fail, or whose replies are lost.
BOOST_FIXTURE_TEST_SUITE(topic_producer_failures, producing_topic)

BOOST_AUTO_TEST_CASE(of_several_transactions_without_an_answer_the_record_tells_how_many_were_done) {
  for (const int done : {0, 1, 2, 3}) {
    puts.clear();
    auto by = ready_with_three_under_way();
    const auto record = last().pending.at(static_cast<std::size_t>(std::max(done, 1) - 1)).first.operations.at(0).data;
    const auto guid = record.substr(record.find(' '));
    reconnect();
    finds_record(std::to_string(1 + done) + guid);
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
  BOOST_TEST_REQUIRE(ended_with(puts[1], errc::no_auth));
  const auto guid = " somebody's";
  finds_record(std::string("1") + guid);
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
  finds_record(record);
  for (std::size_t i = 1; i < 4; ++i) {
    BOOST_TEST_REQUIRE(ended_with(puts[i], errc::outcome_unknown));
  }
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(another_producer_ends_all_that_is_under_way) {
  auto by = ready_with_three_under_way();
  for (int i = 0; i < 3; ++i) fail(errc::bad_version);
  finds_record("7 somebody's");
  for (std::size_t i = 1; i < 4; ++i) {
    BOOST_TEST_REQUIRE(ended_with(puts[i], errc::superseded));
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
  BOOST_TEST_REQUIRE(ended_with(mine, errc::no_auth));
  BOOST_TEST(mine.result<0>() == 2u);
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_reply_that_was_lost_is_settled_by_the_record) {
  for (const bool was_done : {true, false}) {
    auto by = ready();
    auto& mine = put(by, "1");
    const auto data = last().pending.front().first.operations.at(0).data;
    reconnect();
    finds_record(was_done ? data : "0");
    if (!was_done) land();
    BOOST_TEST_REQUIRE(succeeded(mine));
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
  finds_record("0");
  BOOST_TEST(land() == strings({std::string(head) + "0:,1:7,0:,1:8,"}), boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(succeeded(later));
  BOOST_TEST(later.result<0>() == 2u);
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(what_may_be_done_late_is_sent_again_as_it_was) {
  auto by = ready_with_three_under_way();
  const auto late = last().pending.at(2).first.operations.at(0).data;
  const auto guid = late.substr(late.find(' '));
  land_first("2147483000");  // the shard takes no more batches
  reconnect();
  finds_record("2" + guid);
  CHECK_PENDING("multi /");
  fail(errc::bad_version);
  finds_record(late);
  for (std::size_t i = 0; i < 4; ++i) BOOST_TEST(puts[i].result<0>() == i + 1);
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(if_what_is_sent_again_is_refused_the_outcome_of_all_is_unknown) {
  auto by = ready_with_three_under_way();
  const auto record = last().pending.at(0).first.operations.at(0).data;
  reconnect();
  finds_record("1" + record.substr(record.find(' ')));
  CHECK_PENDING("multi /");
  fail(errc::no_auth);
  for (std::size_t i = 1; i < 4; ++i) {
    BOOST_TEST_REQUIRE(ended_with(puts[i], errc::outcome_unknown));
  }
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(what_was_done_behind_a_hole_is_not_counted_although_its_reply_was_lost) {
  auto by = ready_with_three_under_way();
  const auto done = last().pending.at(1).first.operations.at(0).data;
  fail(errc::bad_version);  // somebody has written the record by a single version
  reconnect();
  finds_record(done);
  for (std::size_t i = 1; i < 4; ++i) {
    BOOST_TEST_REQUIRE(ended_with(puts[i], errc::outcome_unknown));
  }
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_look_at_the_last_number_during_a_failure_does_not_bring_back_what_was_given_up) {
  auto by = ready();
  put(by, "1");
  const auto late = last().pending.front().first.operations.at(0).data;
  reconnect();
  CHECK_PENDING("multi /", "get /t/_producers/p");
  auto last_number = by.async_last(begun());
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
  BOOST_TEST_REQUIRE(ended_with(told, errc::outcome_unknown));
  auto& next = put(by, "2");
  answer();
  answer_data("0");
  fail(errc::bad_version);
  finds_record(late);
  BOOST_TEST_REQUIRE(ended_with(next, errc::superseded));
  CHECK_PENDING();
}

BOOST_AUTO_TEST_SUITE_END()
