// Consumers of a queue: order, retries, dead letters, and what is stored.
#include <stdexcept>

#include "rabbit/rabbit_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(rabbit_consumers, rabbit_case)

#include "brokers/consumer_cases.hpp"

BOOST_AUTO_TEST_CASE(a_queue_that_is_not_there_yet_is_made) {
  consume(&succeed);
  BOOST_TEST_REQUIRE(run_until([&] {
    const auto found = client().look_at(queue());
    return found && found->consumers == 1;
  }));
  put_all(numbers(1, 3));  // which declares the queue as we do: other arguments would be refused
  BOOST_TEST_REQUIRE(has_results(3));
}

BOOST_AUTO_TEST_CASE(a_message_has_its_id_its_key_and_its_data) {
  client().declare(queue());
  const std::string bytes("\0\xff\r\n", 4);
  client().put({.queue = queue(), .data = bytes, .id = "first", .key = bytes});
  client().put({.queue = queue(), .data = "", .id = "second"});
  client().put({.queue = queue(), .data = "no id", .key = ""});
  std::vector<message> seen;
  consume([&](term, message item) -> asio::awaitable<message_outcome> {
    seen.push_back(std::move(item));
    co_return message_outcome::done();
  });
  BOOST_TEST_REQUIRE(run_until([&] { return seen.size() == 3; }));
  BOOST_TEST(seen[0].name == "first");
  BOOST_TEST(seen[0].key == bytes);
  BOOST_TEST(seen[0].data == bytes);
  BOOST_TEST(seen[1].name == "second");
  BOOST_TEST(seen[1].key.empty());
  BOOST_TEST(seen[1].data.empty());
  BOOST_TEST(seen[2].name.starts_with("_"), seen[2].name);
}

// Each is in many frames; together they are more than a socket buffers.
BOOST_AUTO_TEST_CASE(huge_messages_are_consumed) {
  client().declare(queue());
  for (int i = 1; i <= 4; ++i) {
    const auto number = std::to_string(i);
    client().put({.queue = queue(), .data = number + std::string(std::size_t{3} << 20, 'x'), .id = number});
  }
  std::vector<std::string> sizes;
  consume([&](term, message item) -> asio::awaitable<message_outcome> {
    sizes.push_back(item.data.substr(0, 1) + ' ' + std::to_string(item.data.size()));
    co_return message_outcome::done();
  });
  BOOST_TEST_REQUIRE(run_until([&] { return sizes.size() == 4; }));
  BOOST_TEST(sizes == std::vector<std::string>({"1 3145729", "2 3145729", "3 3145729", "4 3145729"}),
             boost::test_tools::per_element());
}

// The window is full of messages that wait; the broker sends no more than `prefetch`.
BOOST_AUTO_TEST_CASE(a_small_prefetch_is_enough) {
  with.prefetch = 1;
  put_all(numbers(1, 50));
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(50));
  BOOST_TEST(results() == numbers(1, 50), boost::test_tools::per_element());
}

// The broker gives the messages of the first to the second, because the connection of the first has ended.
BOOST_AUTO_TEST_CASE(two_consumers_without_a_common_election_do_not_double_effects) {
  const auto direct = with.hosts;
  auto& between = use_proxy();
  create("/e-other");
  put_all(numbers(1, 100));
  hold_point held(executor());
  auto& first = consume([&](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "5") co_await held.pass_in_the_end();
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(run_until([&] { return held.is_reached(); }));
  BOOST_TEST_REQUIRE(has_results(4));
  with.hosts = direct;
  consume(&succeed, "/e-other");
  between.refuse(true);
  between.cut();
  BOOST_TEST_REQUIRE(has_results(100));
  held.open();
  BOOST_TEST_REQUIRE(run_until([&] { return first.does.attempts["5"].size() == 1 && !held.is_reached(); }));
  between.refuse(false);
  BOOST_TEST(results() == numbers(1, 100), boost::test_tools::per_element());
  end_when_all_is_acknowledged();
  BOOST_TEST(!std::get<0>(run(zk().async_remove_with_children("/e-other", tuple))));
}

BOOST_AUTO_TEST_CASE(a_hand_over_returns_what_is_not_settled_in_order) {
  options.window = 16;
  put_all(numbers(1, 60));
  hold_point held(executor());
  consume([&](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "20") co_await held.pass_in_the_end();
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(has_results(19));
  BOOST_TEST_REQUIRE(run_until([&] { return held.is_reached(); }));
  BOOST_TEST_REQUIRE(run_until([&] { return client().depth(queue()) == 0; }));  // it has all of them
  auto& next = consume(&succeed);
  all.front().coordinator.resign();
  held.open();
  BOOST_TEST_REQUIRE(has_results(60));
  BOOST_TEST(results() == numbers(1, 60), boost::test_tools::per_element());
  BOOST_TEST(!next.does.attempts.empty());
}

BOOST_AUTO_TEST_CASE(arguments_are_checked) {
  const auto make = [&](auto change) {
    auto how = with;
    change(how);
    rabbit_queues made(zk(), "/t", how);
  };
  BOOST_CHECK_NO_THROW(make([](rabbit_options&) {}));
  BOOST_CHECK_THROW(make([](rabbit_options& how) { how.hosts = ""; }), std::invalid_argument);
  BOOST_CHECK_THROW(make([](rabbit_options& how) { how.hosts = "a:1/root"; }), std::invalid_argument);
  BOOST_CHECK_THROW(make([](rabbit_options& how) { how.hosts = "a:99999"; }), std::invalid_argument);
  BOOST_CHECK_THROW(make([](rabbit_options& how) { how.user = ""; }), std::invalid_argument);
  BOOST_CHECK_THROW(make([](rabbit_options& how) { how.password = std::string("a\0b", 3); }), std::invalid_argument);
  BOOST_CHECK_THROW(make([](rabbit_options& how) { how.virtual_host = ""; }), std::invalid_argument);
  BOOST_CHECK_THROW(make([](rabbit_options& how) { how.queue = ""; }), std::invalid_argument);
  BOOST_CHECK_THROW(make([](rabbit_options& how) { how.queue = "a\nb"; }), std::invalid_argument);
  BOOST_CHECK_THROW(make([](rabbit_options& how) { how.queue = std::string(201, 'x'); }), std::invalid_argument);
  BOOST_CHECK_THROW(make([](rabbit_options& how) { how.key_header = ""; }), std::invalid_argument);
  BOOST_CHECK_THROW(make([](rabbit_options& how) { how.key_header = std::string(129, 'x'); }), std::invalid_argument);
  BOOST_CHECK_THROW(make([](rabbit_options& how) { how.shards = 0; }), std::invalid_argument);
  BOOST_CHECK_THROW(make([](rabbit_options& how) { how.shards = 10'001; }), std::invalid_argument);
  BOOST_CHECK_THROW(make([](rabbit_options& how) { how.prefetch = 0; }), std::invalid_argument);
  BOOST_CHECK_THROW(make([](rabbit_options& how) { how.prefetch = 1'001; }), std::invalid_argument);
  BOOST_CHECK_THROW(make([](rabbit_options& how) { how.timeout = 1ms; }), std::invalid_argument);
  BOOST_CHECK_THROW(make([](rabbit_options& how) { how.heartbeat = 0s; }), std::invalid_argument);
  BOOST_CHECK_THROW(make([](rabbit_options& how) { how.stall_timeout = 1ms; }), std::invalid_argument);
  rabbit_queues good(zk(), "/t", with);
  BOOST_CHECK_THROW(good.feed(1), std::invalid_argument);
  BOOST_CHECK_THROW(rabbit_queues().feed(0), std::invalid_argument);
  BOOST_TEST(good.queue_of(0) == queue());
  BOOST_TEST(good.path() == "/t");
  BOOST_TEST(good.options().queue == with.queue);
  BOOST_TEST(rabbit_queues().options().queue.empty());
}

BOOST_AUTO_TEST_SUITE_END()

// What ends a consumer of a queue.

BOOST_FIXTURE_TEST_SUITE(rabbit_endings, rabbit_case)

#include "brokers/ending_cases.hpp"

BOOST_AUTO_TEST_CASE(a_run_that_waits_for_a_silent_broker_can_be_stopped) {
  use_proxy().freeze(true);
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(run_until([&] { return !get("/e").data.empty(); }));  // it leads
  who.coordinator.stop();
  BOOST_TEST_REQUIRE(run_until([&] { return who.ended.done(); }, 5s));
  BOOST_TEST(!who.ended.error(), who.ended.error().message());
}

// The broker has its messages back although the object of the consumer is still there.
BOOST_AUTO_TEST_CASE(a_term_that_is_over_gives_the_messages_back) {
  options.window = 2;
  put_all(numbers(1, 20));
  hold_point held(executor());
  auto& who = consume([&](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "2") co_await held.pass_in_the_end();
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(run_until([&] { return held.is_reached(); }));
  who.coordinator.stop();
  held.open();
  BOOST_TEST_REQUIRE(run_until([&] { return who.ended.done(); }));
  BOOST_TEST(run_until([&] {
    const auto found = client().look_at(queue());
    return found && found->consumers == 0 && found->messages >= 15;
  }));
}

BOOST_AUTO_TEST_SUITE_END()
