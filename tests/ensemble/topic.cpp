// What a topic takes comes out, once and in order.
#include <set>

#include "ensemble/topic_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(topic_messages, topics)

BOOST_AUTO_TEST_CASE(what_was_put_is_consumed_once_and_in_order) {
  put_all(numbers(1, 300));
  BOOST_TEST(batches().size() < 10u);
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(is_consumed());
  BOOST_TEST(results() == numbers(1, 300), boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().done == 300; }));
  BOOST_TEST(who.does.status().commits < 100u);
  BOOST_TEST(batches().empty());
}

BOOST_AUTO_TEST_CASE(what_comes_later_is_consumed_too) {
  consume(&succeed);
  for (int i = 1; i <= 20; ++i) put_all({std::to_string(i)});
  BOOST_TEST_REQUIRE(has_results(20));
  BOOST_TEST(results() == numbers(1, 20), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_message_has_its_key_its_name_and_its_place) {
  put_with_keys({"k1", "k2"}, {"1", "2"});
  std::vector<message> seen;
  consume([&](term, message item) -> asio::awaitable<message_outcome> {
    seen.push_back(item);
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(is_consumed());
  BOOST_TEST_REQUIRE(seen.size() == 2u);
  BOOST_TEST(seen[0].key == "k1");
  BOOST_TEST(seen[1].key == "k2");
  BOOST_TEST(seen[0].name != seen[1].name);
  BOOST_TEST(seen[0].attempts == 1);
  BOOST_TEST(seen[0].stat.ctime > 0);
}

BOOST_AUTO_TEST_CASE(messages_go_to_the_shards_of_their_keys) {
  with.shards = 5;
  put_all(numbers(1, 100));
  auto read = run(over(zk()).async_shards(tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(read));
  std::vector<std::uint64_t> expected(5);
  for (const auto& each : numbers(1, 100)) ++expected[shard_of(each, 5)];
  for (const auto& each : std::get<1>(read)) BOOST_TEST(each.messages == expected[each.shard]);
  BOOST_TEST(std::get<1>(read).size() == 5u);
  consume(&succeed);
  BOOST_TEST_REQUIRE(run_until([&] { return lag()[0].messages == 0; }));
  const auto seen = results();
  BOOST_TEST(seen.size() == expected[0]);
  for (const auto& each : seen) BOOST_TEST(shard_of(each, 5) == 0u);
}

BOOST_AUTO_TEST_CASE(the_figures_of_a_topic_that_is_not_there_yet) {
  BOOST_TEST(std::get<0>(run(over(zk()).async_lag("g", tuple))) == errc::no_node);
  BOOST_TEST(std::get<0>(run(over(zk()).async_shards(tuple))) == errc::no_node);
  BOOST_TEST(letters().empty());
}

BOOST_AUTO_TEST_CASE(a_topic_has_one_number_of_shards) {
  put_all({"1"});
  with.shards = 2;
  auto other = over(zk());
  BOOST_TEST(std::get<0>(run(topic_producer(other, "q").async_put("k", "2", tuple))) == errc::size_mismatch);
  BOOST_TEST(std::get<0>(run(other.async_lag("g", tuple))) == errc::size_mismatch);
  BOOST_TEST(std::get<0>(run(other.async_seek(0, "g", source_position::begin(), tuple))) == errc::size_mismatch);
  create_election("g");
  running_reader who(connect(), other, "g", options, {}, &succeed);
  BOOST_TEST_REQUIRE(run_until([&] { return who.ended.done(); }));
  BOOST_TEST(who.ended.error() == errc::career_failed);
}

BOOST_AUTO_TEST_CASE(a_consumer_with_another_number_of_shards_is_refused_also_when_its_group_has_a_position) {
  put_all({"1"});
  consume(&succeed);
  BOOST_TEST_REQUIRE(is_consumed());
  end_runs(all);
  with.shards = 2;
  running_reader who(connect(), over(zk()), "g", options, {}, &succeed);
  BOOST_TEST_REQUIRE(run_until([&] { return who.ended.done(); }));
  BOOST_TEST(who.ended.error() == errc::career_failed);
  with.shards = 1;
}

BOOST_AUTO_TEST_CASE(a_path_that_somebody_else_uses_is_left_alone) {
  create("/t", "mine");
  BOOST_TEST(std::get<0>(run(topic_producer(over(zk()), "p").async_put("k", "1", tuple))) == errc::foreign_data);
  BOOST_TEST(std::get<0>(run(over(zk()).async_lag("g", tuple))) == errc::foreign_data);
  BOOST_TEST(get("/t").data == "mine");
}

BOOST_AUTO_TEST_CASE(arguments_are_checked) {
  with.shards = 4;
  auto mine = over(zk());
  BOOST_CHECK_THROW(mine.feed(4, "g"), std::invalid_argument);
  for (const auto* bad : {"", "a/b", "..", "a\n", "a\xff", "\xee\x80\x80"}) {
    BOOST_CHECK_THROW(mine.feed(0, bad), std::invalid_argument);
    BOOST_TEST(std::get<0>(run(mine.async_lag(bad, tuple))) == errc::bad_arguments);
    BOOST_TEST(std::get<0>(run(mine.async_seek(0, bad, source_position::end(), tuple))) == errc::bad_arguments);
    BOOST_TEST(std::get<0>(run(mine.async_dead_letters(bad, tuple))) == errc::bad_arguments);
  }
  BOOST_TEST(std::get<0>(run(mine.async_seek(4, "g", source_position::end(), tuple))) == errc::bad_arguments);
  BOOST_TEST(std::get<0>(run(mine.async_seek(0, "g", source_position::at("-1.0"), tuple))) == errc::bad_arguments);
  BOOST_TEST(std::get<0>(run(mine.async_revive("g", dead_letter(), tuple))) == errc::bad_arguments);
  BOOST_TEST(std::get<0>(run(mine.async_discard("g", dead_letter(), tuple))) == errc::bad_arguments);
  BOOST_CHECK_THROW(topic(zk(), "/t", {.shards = 0}), std::invalid_argument);
  BOOST_CHECK_THROW(topic(zk(), "/t", {.shards = 10'001}), std::invalid_argument);
  BOOST_CHECK_THROW(topic(zk(), "t"), std::invalid_argument);
  BOOST_CHECK_THROW(topic(zk(), "/t", {.retention = {.groups = {"/"}}}), std::invalid_argument);
  BOOST_CHECK_THROW(topic(zk(), "/t", {.retention = {.age = 1ms}}), std::invalid_argument);
  BOOST_CHECK_THROW(topic(zk(), "/t", {.retention = {.bytes = 0}}), std::invalid_argument);
  BOOST_CHECK_THROW(topic_producer(mine, "a/b"), std::invalid_argument);
  BOOST_CHECK_THROW(topic_producer(mine, "\xff"), std::invalid_argument);
  BOOST_CHECK_THROW(topic_producer(mine, ".."), std::invalid_argument);
  BOOST_CHECK_THROW(topic_producer(mine, "a", {.max_batch = 0}), std::invalid_argument);
  BOOST_CHECK_THROW(topic_producer(mine, "a", {.max_bytes = 1}), std::invalid_argument);
  BOOST_CHECK_THROW(topic_producer(mine, "a", {.linger = -1ms}), std::invalid_argument);
  options.order = message_order::by_key;
  options.spent = spent_message::park_key;
  BOOST_CHECK_THROW(acting_consumer(mine.feed(0, "g"), options, {}, &succeed), std::invalid_argument);
  BOOST_CHECK_THROW(acting_consumer(message_feed(), {}, {}, &succeed), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
