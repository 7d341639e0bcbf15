// Putting into streams exactly once.
#include <filesystem>
#include <map>
#include <stdexcept>

#include "redis/producer_case.hpp"
#include "redis/redis_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(redis_producers, producer_case)

BOOST_AUTO_TEST_CASE(messages_are_numbered_and_consumed_in_order) {
  auto by = producer();
  BOOST_TEST(last_of(by) == 0u);
  for (int i = 1; i <= 3; ++i) check(put(by, std::to_string(i), "smith"), {}, static_cast<std::uint64_t>(i));
  check(put_all_of(by, with_key("smith", 4, 3'000)), {}, 2'997u);
  BOOST_TEST(last_of(by) == 3'000u);
  check_consumed(3'000, "smith");
}

BOOST_AUTO_TEST_CASE(each_message_goes_into_the_stream_of_its_key) {
  with.shards = 8;
  with.key_field = "whose";
  auto by = producer();
  messages all_messages;
  for (int i = 0; i < 100; ++i) all_messages.push_back({"key " + std::to_string(i % 20), std::to_string(i)});
  all_messages.push_back({"", "no key"});
  all_messages.push_back({std::string("\0\r\n", 3), std::string("\xff\0", 2)});
  check(put_all_of(by, all_messages), {}, 102u);
  std::map<std::string, std::vector<std::string>> expected;
  const auto over = streams(zk());
  for (const auto& each : all_messages) expected[over.stream_of(over.shard_of(each.key))].push_back(each.data);
  for (const auto& [name, data] : expected) {
    const auto found = client().get({"XRANGE", name, "-", "+"});
    BOOST_TEST_REQUIRE(found->elements == data.size(), name);
    for (std::size_t i = 0; i < data.size(); ++i) {
      const auto& fields = *found->element[i]->element[1];
      const auto& value = *fields.element[fields.elements - 1];
      BOOST_TEST(std::string(value.str, value.len) == data[i]);
      BOOST_TEST(fields.elements == (data[i] == "no key" ? 2u : 4u));
    }
  }
}

BOOST_AUTO_TEST_CASE(many_callers_share_few_batches) {
  client().get({"CONFIG", "RESETSTAT"});
  auto by = producer();
  std::deque<recorder<std::uint64_t>> calls;
  for (int i = 0; i < 2'000; ++i) {
    calls.emplace_back(executor());
    by.async_put("k", std::to_string(i), calls.back().token());
  }
  BOOST_TEST_REQUIRE(run_until([&] { return calls.back().done(); }));
  for (std::uint64_t i = 0; i < 2'000; ++i) BOOST_TEST(calls[i].result<0>() == i + 1);
  const std::string told = client().get({"INFO", "commandstats"})->str;
  const auto at = told.find("cmdstat_eval:calls=");
  BOOST_TEST_REQUIRE(at != told.npos);
  BOOST_TEST(std::stoi(told.substr(at + 19)) <= 20);
  BOOST_TEST(stream().size() == 2'000u);
}

BOOST_AUTO_TEST_CASE(what_can_not_be_put_is_refused_and_the_rest_goes_on) {
  auto by = producer();
  check(put_all_of(by, {}), {}, 0u);
  check(put(by, std::string((std::size_t{64} << 20) + 1, 'x')), errc::too_large, 0u);
  with.shards = 2;
  run(zk().async_remove_with_children("/t", tuple));
  auto two = producer();
  const auto over = streams(zk());
  const std::string good = "a";
  std::string bad = "b";
  while (over.shard_of(bad) == over.shard_of(good)) ++bad.back();
  client().get({"SET", over.stream_of(over.shard_of(bad)), "somebody else's"});
  recorder<std::uint64_t> first(executor()), second(executor()), third(executor());
  two.async_put_all({{good, "1"}, {bad, "2"}, {good, "3"}}, first.token());
  two.async_put(bad, "4", second.token());
  two.async_put(good, "5", third.token());
  BOOST_TEST_REQUIRE(run_until([&] { return first.done() && second.done() && third.done(); }));
  BOOST_TEST((first.error() == errc::foreign_data));
  BOOST_TEST(first.result<0>() == 1u);
  BOOST_TEST(has_logged("WRONGTYPE"));
  BOOST_TEST((second.error() == errc::foreign_data));
  BOOST_TEST(!third.error());
  BOOST_TEST(third.result<0>() == 2u);
  BOOST_TEST(client().data_of(over.stream_of(over.shard_of(good))) == std::vector<std::string>({"1", "5"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_key_of_somebody_else_is_left_alone) {
  auto by = producer();
  client().get({"SET", "orders:producer:p", "mine"});
  check(put(by, "1"), errc::foreign_data, 0u);
  client().get({"DEL", "orders:producer:p"});
  client().get({"HSET", "orders:producer:p", "last", "5"});
  check(put(by, "1"), errc::foreign_data, 0u);
  BOOST_TEST(std::get<0>(run(by.async_last(tuple))) == errc::foreign_data);
  BOOST_TEST(client().get({"HLEN", "orders:producer:p"})->integer == 1);
  client().get({"DEL", "orders:producer:p"});
  check(put(by, "1"), {}, 1u);
}

BOOST_AUTO_TEST_CASE(the_object_that_has_begun_last_has_the_name) {
  auto old = producer();
  check(put(old, "1"), {}, 1u);
  auto next = producer();
  BOOST_TEST(last_of(next) == 1u);
  check(put(old, "x"), errc::superseded, 0u);
  // Its next operation takes the name back: it has been told.
  check(put(old, "2"), {}, 2u);
  check(put(next, "x"), errc::superseded, 0u);
  auto other = producer("q");
  check(put(other, "3"), {}, 1u);
  BOOST_TEST(stream() == numbers(1, 3), boost::test_tools::per_element());
}

// The broker does the first try when it goes on, although the connection has been given up, and then the second one.
BOOST_AUTO_TEST_CASE(a_try_that_comes_late_is_not_a_second_message) {
  auto& own = use_own_broker({});
  with.timeout = 100ms;
  auto by = producer();
  check(put(by, "1"), {}, 1u);
  own.pause();
  recorder<std::uint64_t> waits(executor());
  by.async_put_all(with_key("k", 2, 50), waits.token());
  BOOST_TEST_REQUIRE(run_until([&] { return has_logged("no answer"); }));
  own.resume();
  BOOST_TEST_REQUIRE(run_until([&] { return waits.done(); }));
  BOOST_TEST(!waits.error(), waits.error().message());
  BOOST_TEST(waits.result<0>() == 49u);
  BOOST_TEST(stream() == numbers(1, 50), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(under_kills_of_the_broker_each_message_is_put_once_and_in_order) {
  auto& own = use_own_broker({});
  auto by = producer();
  for (int kills = 0; kills < 10; ++kills) {
    recorder<std::uint64_t> waits(executor());
    by.async_put_all(with_key("k", 1 + 3'000 * kills, 3'000 * (kills + 1)), waits.token());
    const auto wanted = static_cast<long long>(3'000 * kills + 1 + 250 * kills);
    BOOST_TEST_REQUIRE(run_until([&] { return client().length("orders:0") >= wanted; }));
    own.kill();
    client().disconnect();
    own.start();
    BOOST_TEST_REQUIRE(run_until([&] { return waits.done(); }));
    BOOST_TEST(!waits.error(), waits.error().message());
    BOOST_TEST(waits.result<0>() == 3'000u);
  }
  BOOST_TEST(stream() == numbers(1, 30'000), boost::test_tools::per_element());
  auto next = producer();
  BOOST_TEST(last_of(next) == 30'000u);
}

BOOST_AUTO_TEST_CASE(a_batch_that_a_killed_broker_wrote_in_part_is_not_put_by_its_next_start) {
  auto& own = use_own_broker({});
  auto by = producer();
  check(put_all_of(by, with_key("k", 1, 10)), {}, 10u);
  own.kill();
  client().disconnect();
  for (const auto& each : std::filesystem::recursive_directory_iterator(own.dir())) {
    const auto name = each.path().filename().string();
    if (name.ends_with(".incr.aof")) std::filesystem::resize_file(each.path(), each.file_size() - 100);
  }
  own.start();
  BOOST_TEST(count_put() == 0u);
  auto next = producer();
  check(put_all_of(next, with_key("k", 1, 10)), {}, 10u);
  own.restart();
  client().disconnect();
  has_put(10);
}

BOOST_AUTO_TEST_CASE(the_path_of_another_recipe_is_left_alone) {
  create("/t", "mine");
  auto by = producer();
  check(put(by, "1"), errc::foreign_data, 0u);
  BOOST_TEST(client().get({"EXISTS", "orders:producer:p"})->integer == 0);
}

BOOST_AUTO_TEST_CASE(bad_names_are_refused) {
  for (const std::string name : {"", "a/b", "a\nb"}) BOOST_CHECK_THROW(producer(name), std::invalid_argument);
  BOOST_CHECK_THROW(producer(std::string(257, 'x')), std::invalid_argument);
  BOOST_CHECK_THROW(redis_producer(redis_streams(), "p"), std::invalid_argument);
  BOOST_TEST(producer().path() == "/t");
  BOOST_TEST(producer().options().stream == "orders");
  redis_producer nothing;
  BOOST_TEST(nothing.path().empty());
  BOOST_TEST(nothing.options().shards == 256u);
  check(run(nothing.async_put("k", "1", tuple)), errc::closed, 0u);
  check(run(nothing.async_last(tuple)), errc::closed, 0u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(redis_producer_losses, lossy_case<producer_case>)

BOOST_AUTO_TEST_CASE(a_loss_is_told_and_the_number_says_where_to_go_on) {
  auto by = producer();
  check(put_all_of(by, with_key("k", 1, 5)), {}, 5u);
  client().get({"SAVE"});
  check(put_all_of(by, with_key("k", 6, 10)), {}, 5u);
  lose_what_was_put_since_the_save();
  check(put(by, "11"), redis_errc::source_regressed, 0u);
  BOOST_TEST(has_logged("the last message of the producer orders:producer:p is number 5; 10 was acknowledged"));
  const auto last = last_of(by);
  BOOST_TEST_REQUIRE(last == 5u);
  check(put_all_of(by, with_key("k", static_cast<int>(last) + 1, 11)), {}, 6u);
  BOOST_TEST(stream() == numbers(1, 11), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_loss_behind_an_error_is_told_too) {
  auto by = producer();
  check(put_all_of(by, with_key("k", 1, 5)), {}, 5u);
  auto next = producer();
  BOOST_TEST(last_of(next) == 5u);
  check(put(by, "x"), errc::superseded, 0u);
  lose_what_was_put_since_the_save();
  check(put(by, "x"), redis_errc::source_regressed, 0u);
  BOOST_TEST(has_logged("is number 0; 5 was acknowledged"));
  check(put(by, "1"), {}, 1u);
  lose_what_was_put_since_the_save();
  recorder<std::uint64_t> waits(executor()), last(executor());
  by.async_last(last.token());
  by.async_put("k", "x", waits.token());
  BOOST_TEST_REQUIRE(run_until([&] { return last.done() && waits.done(); }));
  check({last.error(), last.result<0>()}, {}, 0u);
  check({waits.error(), waits.result<0>()}, redis_errc::source_regressed, 0u);
  BOOST_TEST(client().length("orders:0") == 0);
}

BOOST_AUTO_TEST_CASE(a_producer_can_be_told_to_go_on) {
  with.regress = redis_regress::go_on;
  auto by = producer();
  check(put_all_of(by, with_key("k", 1, 5)), {}, 5u);
  lose_what_was_put_since_the_save();
  check(put(by, "6"), {}, 1u);
  BOOST_TEST(has_logged("is number 0; 5 was acknowledged"));
  BOOST_TEST(stream() == std::vector<std::string>({"6"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
