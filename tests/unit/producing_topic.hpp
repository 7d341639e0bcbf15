// A topic with one shard and a producer; a test answers what they ask the servers.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/consumer/topic.hpp>
#include <zkrecipes/consumer/topic_producer.hpp>

#include "unit/fake_session.hpp"

namespace zkrecipes::test {

struct producing_topic : fake_session {
  static constexpr std::int32_t most_under_way = 32;
  static constexpr const char* head = "17:zkrecipes:batch:1,";

  producing_topic() { connect(); }

  /// A producer that has read its record.
  topic_producer ready(topic_producer_options options = {}) {
    topic_producer made(topic(zk, "/t", {.shards = 1}), "p", options);
    auto last_number = made.async_last(begun());
    CHECK_PENDING("multi /", "get /t/_producers/p");
    answer();
    answer_data("0");
    BOOST_TEST_REQUIRE((last_number.done() && !last_number.error()));
    return made;
  }
  void answer_data(std::string data) { answer_with({.data = std::move(data)}); }
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
  /// The same for the first of several.
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
