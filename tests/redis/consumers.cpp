// Consumers of a stream: order, retries, dead letters, what is stored, and what is removed from the stream.
#include <stdexcept>

#include "redis/redis_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(redis_consumers, redis_case)

#include "brokers/consumer_cases.hpp"

BOOST_AUTO_TEST_CASE(each_group_begins_with_the_first_entry) {
  put_all(numbers(1, 20));
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(20));
  consume(&succeed, "h");
  BOOST_TEST_REQUIRE(has_results(40));
  auto seen = results();
  BOOST_TEST(std::vector<std::string>(seen.begin(), seen.begin() + 20) == numbers(1, 20),
             boost::test_tools::per_element());
  BOOST_TEST(std::vector<std::string>(seen.begin() + 20, seen.end()) == numbers(1, 20),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_stream_that_is_not_there_yet_is_waited_for) {
  consume(&succeed);
  BOOST_TEST_REQUIRE(run_until([&] { return has_logged("connected redis"); }));
  put_all(numbers(1, 3));
  BOOST_TEST_REQUIRE(has_results(3));
}

BOOST_AUTO_TEST_CASE(an_entry_without_data_is_parked_unprocessed_and_stops_nobody) {
  put_all({"1"});
  client().get({"XADD", "orders:0", "*", "colour", "red"});
  put_all({"2"});
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(2));
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().parked == 1; }));
  BOOST_TEST(letter().find("the entry has no field") != std::string::npos, letter());
  BOOST_TEST(letter().find("red") != std::string::npos, letter());
  BOOST_TEST(who.does.attempts.size() == 2u);
}

BOOST_AUTO_TEST_CASE(two_consumers_of_a_group_without_a_common_election_do_not_double_effects) {
  options.window = 16;
  put_all(numbers(1, 300));
  create("/e-other");
  auto& first = consume(&succeed);
  session own_session = connect();
  acting_consumer other(redis_streams(own_session, "/t", with).feed(0, "g"), options, {}, &succeed);
  consumer_coordinator coordinator(own_session, "/e-other", {.id = "other"});
  recorder<> ended(executor());
  coordinator.async_run(other, ended.token());
  BOOST_TEST_REQUIRE(run_until([&] { return first.does.status().done + other.status().done == 300; }));
  coordinator.stop();
  BOOST_TEST_REQUIRE(run_until([&] { return ended.done(); }));
  BOOST_TEST(!ended.error(), ended.error().message());
  BOOST_TEST(results() == numbers(1, 300), boost::test_tools::per_element());
  remove("/e-other");
}

BOOST_AUTO_TEST_CASE(consumed_entries_are_removed_but_for_those_that_a_named_group_needs) {
  with.groups = {"g", "h"};
  options.window = 200;
  put_all(numbers(1, 1'000));
  auto& g = consume([](term, message) -> asio::awaitable<message_outcome> { co_return message_outcome::done(); });
  BOOST_TEST_REQUIRE(run_until([&] { return g.does.status().done == 1'000; }));
  put_all({"1001"});
  BOOST_TEST_REQUIRE(run_until([&] { return g.does.status().done == 1'001; }));
  BOOST_TEST(client().length("orders:0") == 1'001);
  auto& h = consume([](term, message) -> asio::awaitable<message_outcome> { co_return message_outcome::done(); }, "h");
  BOOST_TEST_REQUIRE(run_until([&] { return h.does.status().done == 1'001; }));
  // Each message wakes the consumers, which look once in a second.
  int number = 2'000;
  const auto is_trimmed = [&] {
    put_all({std::to_string(number++)});
    return client().length("orders:0") < 700;
  };
  BOOST_TEST_REQUIRE(run_until(is_trimmed));
  // The last entry that was consumed is still there.
  const auto at = position().substr(position().find("last\":\"") + 7);
  const auto id = at.substr(0, at.find('"'));
  BOOST_TEST(client().get({"XRANGE", "orders:0", id, id})->elements == 1u);
}

BOOST_AUTO_TEST_CASE(arguments_are_checked) {
  const auto make = [&](auto change) {
    auto how = with;
    change(how);
    redis_streams made(zk(), "/t", how);
  };
  BOOST_CHECK_NO_THROW(make([](redis_options&) {}));
  BOOST_CHECK_THROW(make([](redis_options& how) { how.hosts = ""; }), std::invalid_argument);
  BOOST_CHECK_THROW(make([](redis_options& how) { how.hosts = "a:1/root"; }), std::invalid_argument);
  BOOST_CHECK_THROW(make([](redis_options& how) { how.hosts = "a:99999"; }), std::invalid_argument);
  BOOST_CHECK_THROW(make([](redis_options& how) { how.stream = ""; }), std::invalid_argument);
  BOOST_CHECK_THROW(make([](redis_options& how) { how.stream = "a\nb"; }), std::invalid_argument);
  BOOST_CHECK_THROW(make([](redis_options& how) { how.user = "someone"; }), std::invalid_argument);
  BOOST_CHECK_THROW(make([](redis_options& how) { how.key_field = "data"; }), std::invalid_argument);
  BOOST_CHECK_THROW(make([](redis_options& how) { how.shards = 0; }), std::invalid_argument);
  BOOST_CHECK_THROW(make([](redis_options& how) { how.read_ahead = 0; }), std::invalid_argument);
  BOOST_CHECK_THROW(make([](redis_options& how) { how.timeout = 1ms; }), std::invalid_argument);
  BOOST_CHECK_THROW(make([](redis_options& how) { how.groups = {"a/b"}; }), std::invalid_argument);
  redis_streams good(zk(), "/t", with);
  BOOST_CHECK_THROW(good.feed(1, "g"), std::invalid_argument);
  BOOST_CHECK_THROW(good.feed(0, ""), std::invalid_argument);
  BOOST_CHECK_THROW(redis_streams().feed(0, "g"), std::invalid_argument);
  BOOST_TEST(good.stream_of(0) == "orders:0");
  BOOST_TEST(good.path() == "/t");
  BOOST_TEST(good.options().stream == "orders");
  BOOST_TEST(redis_streams().options().shards == 256u);
}

BOOST_AUTO_TEST_SUITE_END()
