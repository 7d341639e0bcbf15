// Several groups, what is kept for them, and positions that are moved by hand.
#include <algorithm>

#include "ensemble/topic_case.hpp"
#include "topic/topic_layout.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

class groups : public topics {
 public:
  /// A consumer whose effects tell its group, too.
  running_reader& consume_as(const std::string& group) {
    return consume(
        [group](term, message item) -> asio::awaitable<message_outcome> {
          co_return transaction().create("/results/r-", group + item.data, create_mode::persistent_sequential);
        },
        group);
  }
  std::vector<std::string> results_of(const std::string& group) {
    std::vector<std::string> found;
    for (const auto& each : results()) {
      if (each.starts_with(group)) found.push_back(each.substr(group.size()));
    }
    return found;
  }
  /// Each has one message.
  void put_many_batches(std::size_t count) {
    detail::packed_batch one;
    one.add("k", "m");
    constexpr std::size_t at_once = 500;
    for (std::size_t put = 0; put < count; put += at_once) {
      transaction some;
      for (auto i = put; i < std::min(count, put + at_once); ++i)
        some.create("/t/0000/" + detail::batch_marker(1), one.text(), create_mode::persistent_sequential);
      BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_commit(std::move(some), tuple))));
    }
  }
  void put_batches(int from, int to) {
    for (int i = from; i <= to; ++i) put_all({std::to_string(i)});
  }
};

std::vector<std::string> twice(std::vector<std::string> first, const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(topic_groups, groups)

BOOST_AUTO_TEST_CASE(each_group_gets_all_messages_and_they_stay_until_all_have_them) {
  with.retention.groups = {"g", "h"};
  put_batches(1, 5);
  consume_as("g");
  BOOST_TEST_REQUIRE(is_consumed("g"));
  BOOST_TEST(lag("h").front().messages == 5u);
  BOOST_TEST(lag("h").front().batches == 5u);
  BOOST_TEST(lag("h").front().oldest >= 0ms);
  BOOST_TEST(batches().size() == 5u);
  consume_as("h");
  BOOST_TEST_REQUIRE(is_consumed("h"));
  BOOST_TEST(results_of("g") == numbers(1, 5), boost::test_tools::per_element());
  BOOST_TEST(results_of("h") == numbers(1, 5), boost::test_tools::per_element());
  BOOST_TEST(run_until([&] { return batches().empty(); }));
}

BOOST_AUTO_TEST_CASE(without_retention_everything_is_kept) {
  with.retention = {};
  put_batches(1, 3);
  consume_as("g");
  BOOST_TEST_REQUIRE(is_consumed("g"));
  BOOST_TEST(batches().size() == 3u);
  auto seen = run(over(zk()).async_shards(tuple));
  BOOST_TEST_REQUIRE(std::get<1>(seen).size() == 1u);
  BOOST_TEST(std::get<1>(seen)[0].messages == 3u);
  BOOST_TEST(std::get<1>(seen)[0].groups == std::vector<std::string>{"g"}, boost::test_tools::per_element());
}

// The first look of a consumer's term removes it.
BOOST_AUTO_TEST_CASE(what_all_groups_have_consumed_goes_once_there_is_much_of_it) {
  with.retention = {};
  put_batches(1, 1);
  put_many_batches(10'099);
  BOOST_TEST_REQUIRE(batches().size() == 10'100u);
  BOOST_TEST_REQUIRE(!seek(source_position::end()));
  consume_as("g");
  BOOST_TEST_REQUIRE(run_until([&] { return batches().size() == 10'000u; }, 1min));
  BOOST_TEST(!exists("/t/0000/" + detail::batch_marker(1) + "0000000000"));
}

BOOST_AUTO_TEST_CASE(what_was_consumed_is_kept_for_its_age) {
  with.retention.age = 1s;
  put_batches(1, 3);
  consume_as("g");
  BOOST_TEST_REQUIRE(is_consumed("g"));
  BOOST_TEST(run_until([&] { return batches().empty(); }));
  BOOST_TEST(results_of("g") == numbers(1, 3), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_shard_keeps_its_bytes_and_what_is_not_consumed) {
  with.retention.bytes = 2'500;
  hold_point hold(executor());
  for (int i = 1; i <= 6; ++i) put_with_keys({"k"}, {std::to_string(i) + std::string(1'000, 'x')});
  auto& who = consume(
      [&](term, message item) -> asio::awaitable<message_outcome> {
        if (item.data[0] == '4') co_await hold.pass();
        co_return effect_of(item);
      },
      "g");
  BOOST_TEST_REQUIRE(run_until([&] { return hold.is_reached() && who.does.status().done == 3; }));
  BOOST_TEST(run_until([&] { return batches().size() == 3; }));  // too many bytes still, but nobody has consumed them
  hold.open();
  BOOST_TEST_REQUIRE(is_consumed("g"));
  BOOST_TEST(run_until([&] { return batches().size() == 2; }));
}

BOOST_AUTO_TEST_CASE(leftovers_of_another_retention_are_removed) {
  with.retention = {};
  put_batches(1, 3);
  consume_as("g");
  BOOST_TEST_REQUIRE(is_consumed("g"));
  end_runs(all);
  with.retention.groups = {"g"};
  put_batches(4, 4);
  consume_as("g");
  BOOST_TEST(run_until([&] { return batches().empty(); }));
  BOOST_TEST(results_of("g") == numbers(1, 4), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(batches_of_a_shard_made_anew_are_not_taken_for_the_old_ones) {
  with.retention.bytes = 1;
  hold_point hold(executor());
  put_batches(1, 3);
  own().drop_requests(testcluster::op::multi, "/t/0000/b-");  // removals
  const auto cuts = own().drops();
  consume(
      connect_far(),
      [&](term, message item) -> asio::awaitable<message_outcome> {
        if (item.data == "4") co_await hold.pass();
        co_return transaction().create("/results/r-", "g" + item.data, create_mode::persistent_sequential);
      },
      "g");
  BOOST_TEST_REQUIRE(run_until([&] { return own().drops() > cuts; }));  // a removal is under way
  BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_remove_with_children("/t", tuple))));
  put_batches(4, 6);
  own().heal();
  BOOST_TEST_REQUIRE(run_until([&] { return hold.is_reached(); }));
  hold.open();
  BOOST_TEST_REQUIRE(is_consumed("g"));
  BOOST_TEST(run_until([&] { return batches().empty(); }));
  BOOST_TEST(results_of("g") == numbers(1, 6), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_group_is_played_again_from_any_place_that_is_kept) {
  with.retention = {};
  put_all(numbers(1, 5));
  put_all(numbers(6, 10));
  consume_as("g");
  BOOST_TEST_REQUIRE(is_consumed("g"));
  BOOST_TEST(!seek(source_position::begin()));  // while the consumer waits for messages
  BOOST_TEST_REQUIRE(has_results(20));
  BOOST_TEST_REQUIRE(is_consumed("g"));
  BOOST_TEST(results_of("g") == twice(numbers(1, 10), numbers(1, 10)), boost::test_tools::per_element());
  const auto names = batches();
  const auto last = std::stoi(std::max(names[0].substr(4), names[1].substr(4)));
  BOOST_TEST(!seek(source_position::at(std::to_string(last) + ".2")));
  BOOST_TEST_REQUIRE(has_results(23));
  BOOST_TEST_REQUIRE(is_consumed("g"));
  BOOST_TEST(results_of("g") == twice(twice(numbers(1, 10), numbers(1, 10)), numbers(8, 10)),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_group_that_does_not_exist_yet_can_begin_at_the_end) {
  put_batches(1, 3);
  BOOST_TEST(!seek(source_position::end()));
  BOOST_TEST(lag().front().messages == 0u);
  put_batches(4, 5);
  BOOST_TEST(lag().front().messages == 2u);
  consume_as("g");
  BOOST_TEST_REQUIRE(is_consumed("g"));
  BOOST_TEST(results_of("g") == numbers(4, 5), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_seek_whose_reply_is_lost_moves_the_group_once) {
  put_all({"1"});
  BOOST_TEST(!seek(source_position::begin()));
  const auto before = get("/t/0000/_at/g").stat.version;
  auto far = connect_far();
  own().drop_reply(testcluster::op::set_data);
  BOOST_TEST(!std::get<0>(run(over(far).async_seek(0, "g", source_position::end(), tuple))));
  BOOST_TEST(get("/t/0000/_at/g").stat.version == before + 1);
}

BOOST_AUTO_TEST_CASE(a_seek_that_makes_a_group_is_found_again_after_a_lost_reply) {
  put_all({"1"});
  auto far = connect_far();
  const auto cuts = own().drops();
  own().drop_reply(testcluster::op::multi);
  BOOST_TEST(!std::get<0>(run(over(far).async_seek(0, "g", source_position::end(), tuple))));
  BOOST_TEST(own().drops() == cuts + 1);
  const auto version = get("/t/0000/_at/g").stat.version;
  BOOST_TEST(version >= 2);  // no consumer knows it
  BOOST_TEST(version < 64);
}

BOOST_AUTO_TEST_CASE(what_is_in_hand_while_the_position_is_moved_is_not_committed) {
  with.retention = {};
  hold_point hold(executor());
  bool is_held = true;
  put_all(numbers(1, 10));
  auto& who = consume([&](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "5" && std::exchange(is_held, false)) co_await hold.pass();
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(run_until([&] { return hold.is_reached() && who.does.status().done == 4; }));
  BOOST_TEST(!seek(source_position::begin()));
  hold.open();
  BOOST_TEST_REQUIRE(has_results(14));
  BOOST_TEST_REQUIRE(is_consumed());
  BOOST_TEST(results() == twice(numbers(1, 4), numbers(1, 10)), boost::test_tools::per_element());
  BOOST_TEST(who.does.ends.empty());
}

BOOST_AUTO_TEST_CASE(messages_can_be_skipped_while_a_consumer_fails_at_them) {
  options.retry = {.first = 1h, .longest = 1h, .attempts = 3};
  put_all({"bad", "behind", "behind"});  // they take all places of the window
  auto& who = consume([](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "bad") throw std::runtime_error("no");
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().resting == 1; }));
  BOOST_TEST(!seek(source_position::end()));
  put_all({"1"});
  BOOST_TEST_REQUIRE(has_results(1));
  BOOST_TEST(letters().empty());
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().resting == 0; }));
}

BOOST_AUTO_TEST_CASE(two_consumers_of_a_group_without_a_common_election_do_not_double_effects) {
  options.window = 16;
  put_all(numbers(1, 300));
  create("/e-other");
  auto& first = consume(&succeed);
  session own_session = connect();
  acting_consumer other(over(own_session).feed(0, "g"), options, {}, &succeed);
  consumer_coordinator coordinator(own_session, "/e-other", {.id = "other"});
  recorder<> ended(executor());
  coordinator.async_run(other, ended.token());
  BOOST_TEST_REQUIRE(is_consumed());
  BOOST_TEST_REQUIRE(run_until([&] { return first.does.status().done + other.status().done == 300; }));
  BOOST_TEST(results().size() == 300u);
  coordinator.stop();
  BOOST_TEST_REQUIRE(run_until([&] { return ended.done(); }));
  BOOST_TEST(!ended.error(), ended.error().message());
  BOOST_TEST(results() == numbers(1, 300), boost::test_tools::per_element());
  remove("/e-other");
}

BOOST_AUTO_TEST_SUITE_END()
