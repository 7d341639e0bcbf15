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
  auto read = must(run(over(zk()).async_shards(tuple)));
  std::vector<std::uint64_t> expected(5);
  for (const auto& each : numbers(1, 100)) ++expected[shard_of(each, 5)];
  for (const auto& each : read) BOOST_TEST(each.messages == expected[each.shard]);
  BOOST_TEST(read.size() == 5u);
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

// Messages are put exactly once, packed.

namespace {

class producing : public topics {
 public:
  recorder<std::uint64_t>& put(topic_producer& by, const std::string& data) {
    puts.emplace_back(executor());
    by.async_put(data, data, puts.back().token());
    return puts.back();
  }
  bool all_done() {
    return run_until([&] { return std::ranges::all_of(puts, &recorder<std::uint64_t>::done); });
  }
  std::vector<std::string> consumed() {
    consume(&succeed);
    BOOST_TEST_REQUIRE(is_consumed());
    return results();
  }

  std::deque<recorder<std::uint64_t>> puts;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(topic_producers, producing)

BOOST_AUTO_TEST_CASE(numbers_grow_in_order_and_go_on_after_a_restart) {
  for (int begin : {1, 101}) {
    topic_producer by(over(zk()), "p");
    BOOST_TEST(std::get<1>(run(by.async_last(tuple))) == static_cast<std::uint64_t>(begin - 1));
    puts.clear();
    for (int i = begin; i < begin + 100; ++i) put(by, std::to_string(i));
    BOOST_TEST_REQUIRE(all_done());
    for (int i = begin; i < begin + 100; ++i) {
      auto& each = puts[static_cast<std::size_t>(i - begin)];
      BOOST_TEST(!each.error());
      BOOST_TEST(each.result<0>() == static_cast<std::uint64_t>(i));
    }
  }
  BOOST_TEST(consumed() == numbers(1, 200), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(messages_that_wait_travel_together) {
  topic_producer by(over(zk()), "p");
  BOOST_TEST(!std::get<0>(run(by.async_last(tuple))));
  const auto before = zk().counters().requests;
  for (const auto& each : numbers(1, 1000)) put(by, each);
  BOOST_TEST_REQUIRE(all_done());
  BOOST_TEST(zk().counters().requests - before < 20u);
  BOOST_TEST(batches().size() < 5u);
}

BOOST_AUTO_TEST_CASE(a_transaction_has_bounds) {
  topic_producer by(over(zk()), "p", {.max_batch = 10});
  for (const auto& each : numbers(1, 95)) put(by, each);
  BOOST_TEST_REQUIRE(all_done());
  BOOST_TEST(batches().size() >= 10u);
  topic_producer large(over(zk()), "q");
  puts.clear();
  for (int i = 0; i < 8; ++i) put(large, std::string(900, static_cast<char>('a' + i)));
  for (int i = 0; i < 3; ++i) {
    puts.emplace_back(executor());
    large.async_put("k", std::string(990'000, 'x'), puts.back().token());
  }
  BOOST_TEST_REQUIRE(all_done());
  for (auto& each : puts) BOOST_TEST(!each.error(), each.error().message());
}

BOOST_AUTO_TEST_CASE(what_is_too_large_is_not_sent_and_stops_nobody) {
  topic_producer by(over(zk()), "p");
  BOOST_TEST(std::get<0>(run(by.async_put("k", std::string(1'000'000, 'x'), tuple))) == errc::too_large);
  BOOST_TEST(std::get<0>(run(by.async_put(std::string(1'001, 'k'), "x", tuple))) == errc::too_large);
  auto put = run(by.async_put("k", "1", tuple));
  BOOST_TEST(!std::get<0>(put));
  BOOST_TEST(std::get<1>(put) == 1u);
}

BOOST_AUTO_TEST_CASE(replies_that_are_lost_change_nothing) {
  auto far = connect_far();
  topic_producer by(over(far), "p", {.max_batch = 10});
  for (int k = 1; k <= 4; ++k) own().drop_reply(testcluster::op::multi, 2 * k);
  for (const auto& each : numbers(1, 100)) put(by, each);
  BOOST_TEST_REQUIRE(all_done());
  for (std::size_t i = 0; i < puts.size(); ++i) {
    BOOST_TEST(!puts[i].error(), puts[i].error().message());
    BOOST_TEST(puts[i].result<0>() == i + 1);
  }
  BOOST_TEST(own().drops() == 4u);
  BOOST_TEST(consumed() == numbers(1, 100), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(many_messages_of_one_call_survive_lost_requests_and_replies) {
  auto far = connect_far();
  topic_producer by(over(far), "p", {.max_batch = 10});
  std::vector<topic_message> all;
  for (const auto& each : numbers(1, 1000)) all.push_back({each, each});
  for (int k = 1; k <= 4; ++k) {
    own().drop_reply(testcluster::op::multi, 11 * k);
    own().drop_request(testcluster::op::multi, 17 * k);
  }
  auto put = run(by.async_put_all(std::move(all), tuple));
  BOOST_TEST(!std::get<0>(put), std::get<0>(put).message());
  BOOST_TEST(std::get<1>(put) == 1000u);
  BOOST_TEST(own().drops() >= 3u);
  BOOST_TEST(std::get<1>(run(by.async_last(tuple))) == 1000u);
  BOOST_TEST(consumed() == numbers(1, 1000), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(another_producer_of_the_name_is_noticed) {
  topic_producer first(over(zk()), "p");
  topic_producer second(over(zk()), "p");
  BOOST_TEST(!std::get<0>(run(first.async_put("k", "1", tuple))));
  BOOST_TEST(!std::get<0>(run(second.async_put("k", "2", tuple))));
  BOOST_TEST(std::get<0>(run(first.async_put("k", "x", tuple))) == errc::superseded);
  auto again = run(first.async_put("k", "3", tuple));
  BOOST_TEST(!std::get<0>(again));
  BOOST_TEST(std::get<1>(again) == 3u);
  BOOST_TEST(consumed() == numbers(1, 3), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(nothing_that_another_producer_of_the_name_has_under_way_follows_with_a_hole_in_front_of_it) {
  auto far = connect_far();
  topic_producer sleeping(over(far), "p", {.max_batch = 1});
  for (const auto* each : {"1", "2"}) {  // it looks at the shard behind the first one
    put(sleeping, each);
    BOOST_TEST_REQUIRE(all_done());
  }
  own().freeze(true);
  const auto before = far.counters().requests;
  for (const auto* each : {"x", "y", "z"}) put(sleeping, each);
  BOOST_TEST_REQUIRE(run_until([&] { return far.counters().requests >= before + 3; }));
  topic_producer next(over(zk()), "p", {.max_batch = 1});
  for (const auto* each : {"3", "4"}) BOOST_TEST(!std::get<0>(run(next.async_put(each, each, tuple))));
  own().freeze(false);
  BOOST_TEST_REQUIRE(all_done());
  for (std::size_t i = 2; i < 5; ++i) BOOST_TEST(puts[i].error() == errc::superseded);
  BOOST_TEST(consumed() == numbers(1, 4), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_topic_that_was_removed_is_made_again) {
  topic_producer by(over(zk()), "p");
  BOOST_TEST(!std::get<0>(run(by.async_put("k", "x", tuple))));
  BOOST_TEST(!std::get<0>(run(zk().async_remove_with_children("/t", tuple))));
  auto put = run(by.async_put("k", "1", tuple));
  BOOST_TEST(!std::get<0>(put), std::get<0>(put).message());
  BOOST_TEST(std::get<1>(put) == 1u);
  BOOST_TEST(consumed() == numbers(1, 1), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_put_that_is_cancelled_is_put_all_the_same) {
  own();
  auto far = connect_far();
  topic_producer by(over(far), "p");
  BOOST_TEST(!std::get<0>(run(by.async_last(tuple))));
  disconnect(far);
  auto& mine = put(by, "1");
  auto& other = put(by, "2");
  mine.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return mine.done(); }));
  BOOST_TEST(mine.error() == asio::error::operation_aborted);
  BOOST_TEST(!other.done());
  reconnect();
  BOOST_TEST_REQUIRE(run_until([&] { return other.done(); }));
  BOOST_TEST(!other.error());
  BOOST_TEST(other.result<0>() == 2u);
  BOOST_TEST(mine.calls() == 1);
  BOOST_TEST(consumed() == numbers(1, 2), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_a_lost_reply_leaves_open_is_told_although_the_record_may_not_be_read) {
  auto far = connect_far();
  topic_producer by(over(far), "p");
  BOOST_TEST(!std::get<0>(run(by.async_put("k", "1", tuple))));
  own().drop_reply(testcluster::op::multi);
  const auto dropped = own().drops();
  auto& mine = put(by, "2");
  own().refuse(true);
  BOOST_TEST_REQUIRE(run_until([&] { return own().drops() > dropped; }));
  const acl all_but_read{{perm_write | perm_create | perm_delete | perm_admin, "world", "anyone"}};
  run(zk().async_set_acl("/t/_producers/p", all_but_read, any_version, tuple));
  own().refuse(false);
  BOOST_TEST_REQUIRE(run_until([&] { return mine.done(); }));
  BOOST_TEST(mine.error() == errc::outcome_unknown);
  run(zk().async_set_acl("/t/_producers/p", open_acl(), any_version, tuple));
  BOOST_TEST(std::get<1>(run(by.async_last(tuple))) == 2u);
}

BOOST_AUTO_TEST_CASE(a_record_that_was_made_anew_is_no_other_producer) {
  topic_producer by(over(zk()), "p");
  BOOST_TEST(!std::get<0>(run(by.async_put("k", "x", tuple))));
  BOOST_TEST(!std::get<0>(run(zk().async_remove_with_children("/t", tuple))));
  BOOST_TEST(std::get<1>(run(by.async_last(tuple))) == 0u);
  auto put = run(by.async_put("k", "1", tuple));
  BOOST_TEST(!std::get<0>(put), std::get<0>(put).message());
  BOOST_TEST(std::get<1>(put) == 1u);
}

BOOST_AUTO_TEST_CASE(a_put_that_waits_goes_with_its_context) {
  for (int steps = 0; steps < 200; steps += 1 + steps / 8) {
    auto held = std::make_shared<int>();
    std::weak_ptr<int> seen = held;
    {
      asio::io_context io;
      session zk(io.get_executor(), fixture::options());
      topic_producer by(over(zk), "p");
      by.async_put("k", "x", [held, by](error_code, std::uint64_t) {});
      by.async_put_all({{"k", "y"}, {"l", "z"}}, [held, by](error_code, std::uint64_t) {});
      held.reset();
      for (int i = 0; i < steps; ++i) io.run_one_for(10ms);
    }
    BOOST_TEST(seen.expired(), steps);
  }
}

BOOST_AUTO_TEST_CASE(a_transaction_waits_for_others_only_as_long_as_it_is_told) {
  topic_producer by(over(zk()), "p", {.max_batch = 3, .linger = 50s});
  BOOST_TEST(!std::get<0>(run(by.async_last(tuple))));
  for (const auto& each : numbers(1, 3)) put(by, each);
  BOOST_TEST_REQUIRE(all_done());
  BOOST_TEST(batches().size() == 1u);
  auto closing = connect();
  topic_producer late(over(closing), "q", {.linger = 50s});
  auto& left = put(late, "4");
  BOOST_TEST(!std::get<0>(run(closing.async_close(tuple))));
  BOOST_TEST_REQUIRE(run_until([&] { return left.done(); }));
  BOOST_TEST(left.error() == errc::closed);
}

BOOST_AUTO_TEST_CASE(without_the_right_to_create_batches_puts_end) {
  put_all({"1"});
  const acl all_but_create{{perm_read | perm_write | perm_delete | perm_admin, "world", "anyone"}};
  forbid_creating("/t/0000", all_but_create);
  topic_producer by(over(zk()), "p");
  BOOST_TEST(std::get<0>(run(by.async_put("k", "x", tuple))) == errc::no_auth);
  allow_creating("/t/0000");
  auto put = run(by.async_put("k", "2", tuple));
  BOOST_TEST(!std::get<0>(put));
  BOOST_TEST(std::get<1>(put) == 2u);
  BOOST_TEST(consumed() == numbers(1, 2), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_shard_that_can_not_be_made_ends_the_puts_to_it_only) {
  with.shards = 2;
  put_all({"1"});
  const auto used = exists("/t/0000") ? 0u : 1u;
  std::string refused = "1";
  while (over(zk()).shard_of(refused) == used) refused += 'x';
  topic_producer by(over(zk()), "p", {.max_batch = 1});
  BOOST_TEST(!std::get<0>(run(by.async_put("1", "2", tuple))));  // the next transactions go together
  const acl all_but_create{{perm_read | perm_write | perm_delete | perm_admin, "world", "anyone"}};
  forbid_creating("/t", all_but_create);
  auto& first = put(by, refused);
  auto& second = put(by, "1");
  BOOST_TEST_REQUIRE(all_done());
  BOOST_TEST(first.error() == errc::no_auth);
  BOOST_TEST(!second.error(), second.error().message());
  allow_creating("/t");
}

BOOST_AUTO_TEST_CASE(a_transaction_is_no_larger_than_the_session_sends) {
  auto how = fixture::options();
  how.jute_maxbuffer = 20'000;
  auto narrow = connect(how);
  topic_producer by(over(narrow), "p");
  std::vector<topic_message> many(100, {"k", std::string(1'000, 'd')});
  auto put = run(by.async_put_all(std::move(many), tuple));
  BOOST_TEST(!std::get<0>(put), std::get<0>(put).message());
  BOOST_TEST(std::get<1>(put) == 100u);
  BOOST_TEST(batches().size() >= 5u);
}

BOOST_AUTO_TEST_SUITE_END()
