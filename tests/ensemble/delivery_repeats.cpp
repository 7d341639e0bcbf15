// Repeats of a producer over ends of terms: of a queue, and of a topic in a shard group.
#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/consumer/shard_group.hpp>

#include "ensemble/topic_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// "a3" is the number 3 of the producer "a".
std::optional<message_origin> origin_of(const message& item) {
  return message_origin{item.data.substr(0, 1), std::stoull(item.data.substr(1))};
}

/// The numbers of these producers from `first` to `last`, in order.
std::vector<std::string> numbered(const std::string& producers, int first, int last) {
  std::vector<std::string> all;
  for (int number = first; number <= last; ++number) {
    for (const char each : producers) all.push_back(each + std::to_string(number));
  }
  return all;
}

/// Each message is followed by a repeat of the one some places before it.
std::vector<std::string> with_repeats(const std::vector<std::string>& data) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < data.size(); ++i) {
    all.push_back(data[i]);
    all.push_back(data[i - std::min<std::size_t>(i, i % 7)]);
  }
  return all;
}

struct repeated_deliveries : deliveries {
  repeated_deliveries() { options.repeats = message_repeats{.origin = &origin_of}; }
};

/// Two members of a group share the shards of a topic.
struct repeated_topics : topics {
  repeated_topics() {
    with.shards = 2;
    options.order = message_order::by_key;
    options.parallel = 8;
    options.repeats = message_repeats{.origin = &origin_of};
  }
  void teardown() {
    for (auto& each : members) each.group.stop();
    run_until([&] { return std::ranges::all_of(members, [](const auto& each) { return each.ended.done(); }); }, 10s);
    members.clear();
    if (exists("/sg")) BOOST_TEST(!std::get<0>(run(zk().async_remove_with_children("/sg", tuple))));
    topics::teardown();
  }

  struct member {
    member(repeated_topics& of, std::string id)
        : zk(of.connect()),
          group(zk, "/sg", {.id = std::move(id), .shards = 2, .collect = 50ms}),
          ended(zk.get_executor()) {
      auto make = [this, &of](const shard& which) -> std::unique_ptr<leader_career> {
        return std::make_unique<acting_consumer>(of.over(zk).feed(which.number, "g"), of.options, career_traits(),
                                                 &succeed);
      };
      group.async_run(make, ended.token());
    }
    session zk;
    shard_group group;
    recorder<> ended;
  };
  /// The key of a message is its producer, so each producer has one shard.
  void put_all_of(const std::vector<std::string>& data) {
    std::vector<std::string> keys;
    for (const auto& each : data) keys.push_back(each.substr(0, 1));
    put_with_keys(keys, data);
  }
  static bool is_executing(const member& which) {
    const auto status = which.group.status();
    return std::ranges::any_of(status.shards,
                               [](const shard_status& each) { return each.phase == coordinator_phase::executing; });
  }
  bool is_all_consumed() {
    return run_until(
        [&] { return std::ranges::all_of(lag(), [](const source_lag& each) { return each.messages == 0; }); }, 30s);
  }
  std::vector<std::string> sorted_results() {
    auto all = results();
    std::ranges::sort(all);
    return all;
  }

  std::deque<member> members;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(delivery_repeats_of_a_queue, repeated_deliveries)

BOOST_AUTO_TEST_CASE(each_number_has_its_effect_once_and_in_order_though_leaders_expire) {
  options.window = 8;
  const auto wanted = numbered("ab", 1, 60);
  put_all(with_repeats(wanted));
  const career_traits at_once{.hand_over_deadline = 0ms};
  consume(&succeed, at_once);
  consume(&succeed, at_once);
  for (std::size_t done = 20; done <= 100; done += 20) {
    BOOST_TEST_REQUIRE(run_until([&] { return children("/results").size() >= done; }, 30s));
    for (auto& each : all) {
      if (each.coordinator.status().phase == coordinator_phase::executing) {
        cluster().expire(each.zk.status().session_id);
      }
    }
  }
  BOOST_TEST_REQUIRE(is_done());
  BOOST_TEST(results() == wanted, boost::test_tools::per_element());
  put_all(wanted);
  BOOST_TEST_REQUIRE(is_done());
  BOOST_TEST(results() == wanted, boost::test_tools::per_element());
  BOOST_TEST(get("/q/_repeats").data == R"({"zkrecipes":"producer_marks","producers":["1-60 a","1-60 b"]})");
}

BOOST_AUTO_TEST_CASE(replies_that_are_lost_process_no_number_twice) {
  options.window = 4;
  const auto wanted = numbered("a", 1, 40);
  put_all(with_repeats(wanted));
  all.emplace_back(connect_far(), options, career_traits(), &succeed);
  for (std::size_t done = 5; done <= 35; done += 10) {
    BOOST_TEST_REQUIRE(run_until([&] { return children("/results").size() >= done; }, 30s));
    own().drop_reply(testcluster::op::multi);
  }
  BOOST_TEST_REQUIRE(is_done());
  BOOST_TEST(results() == wanted, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_revived_dead_letter_is_processed_although_later_numbers_were) {
  options.retry.attempts = 1;
  bool is_cured = false;
  put_all({"a1", "a2", "a3", "a2"});
  auto& who = consume([&](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "a2" && !is_cured) throw std::runtime_error("not yet");
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(is_done());
  const auto letters = dead_letters(over(zk()));
  BOOST_TEST_REQUIRE(letters.size() == 2u);
  is_cured = true;
  for (const auto& each : letters) BOOST_TEST(!std::get<0>(run(over(zk()).async_revive(each, tuple))));
  BOOST_TEST_REQUIRE(is_done());
  BOOST_TEST(results() == std::vector<std::string>({"a1", "a3", "a2"}), boost::test_tools::per_element());
  BOOST_TEST(run_until([&] { return who.does.status().repeated == 1; }));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(delivery_repeats_of_a_topic, repeated_topics)

BOOST_AUTO_TEST_CASE(the_marks_of_a_shard_move_with_it) {
  const std::string producers = "abcdefgh";
  put_all_of(with_repeats(numbered(producers, 1, 10)));
  members.emplace_back(*this, "one");
  BOOST_TEST_REQUIRE(is_all_consumed());
  members.emplace_back(*this, "two");
  BOOST_TEST_REQUIRE(run_until([&] { return is_executing(members[1]); }, 30s));
  put_all_of(with_repeats(numbered(producers, 8, 20)));
  members[0].group.stop();
  BOOST_TEST_REQUIRE(is_all_consumed());
  put_all_of(numbered(producers, 1, 20));
  BOOST_TEST_REQUIRE(is_all_consumed());
  auto wanted = numbered(producers, 1, 20);
  std::ranges::sort(wanted);
  BOOST_TEST(sorted_results() == wanted, boost::test_tools::per_element());
  for (const auto* each : {"/t/0000/_repeats/g", "/t/0001/_repeats/g"}) {
    BOOST_TEST(get(each).data.find("\"1-20 ") != std::string::npos, get(each).data);
  }
}

BOOST_AUTO_TEST_SUITE_END()
