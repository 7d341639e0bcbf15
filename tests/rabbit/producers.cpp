// Putting into queues so that each message has its effect once.
#include <map>
#include <stdexcept>

#include "rabbit/producer_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// Producers connect through a proxy.
struct rabbit_producers_case : producer_case {
  rabbit_producers_case() : between(&use_proxy()) {}

  testcluster::proxy* between;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(rabbit_producers, rabbit_producers_case)

BOOST_AUTO_TEST_CASE(messages_are_consumed_in_order) {
  auto by = producer();
  for (std::uint64_t i = 1; i <= 3; ++i) check(put(by, std::to_string(i), "smith"), {}, i);
  check(put_all_of(by, with_key("smith", 4, 3'000)), {}, 2'997u);
  check_consumed(3'000, "smith");
  BOOST_TEST(memory().size() < 500u, memory());
  end_when_all_is_acknowledged();
}

BOOST_AUTO_TEST_CASE(the_numbers_of_an_epoch_have_no_holes) {
  auto by = producer();
  check(put_all_of(by, with_key("k", 1, 2'500)), {}, 2'500u);
  auto next = producer();
  check(put_all_of(next, with_key("k", 2'501, 2'600)), {}, 100u);
  const auto& found = reader().read();
  BOOST_TEST_REQUIRE(found.size() == 2'600u);
  const auto epoch_of = [](const std::string& id) { return id.substr(0, id.rfind(':') + 1); };
  const auto first = epoch_of(found.front().id), second = epoch_of(found.back().id);
  BOOST_TEST(first.starts_with("zkr:p:"), first);
  BOOST_TEST(first != second);
  for (std::size_t i = 0; i < 2'500; ++i) BOOST_TEST(found[i].id == first + std::to_string(i + 1));
  for (std::size_t i = 2'500; i < 2'600; ++i) BOOST_TEST(found[i].id == second + std::to_string(i - 2'499));
  BOOST_TEST(reader().repeats() == 0u);
}

BOOST_AUTO_TEST_CASE(each_message_goes_into_the_queue_of_its_key) {
  with.shards = 4;
  auto by = producer();
  messages all_messages;
  for (int i = 0; i < 100; ++i) all_messages.push_back({"key " + std::to_string(i % 20), std::to_string(i)});
  all_messages.push_back({"", "no key"});
  all_messages.push_back({std::string("\0\r\n", 3), std::string("\xff\0", 2)});
  check(put_all_of(by, all_messages), {}, 102u);
  std::map<std::uint32_t, messages> expected;
  const auto over = queues(zk());
  for (const auto& each : all_messages) expected[over.shard_of(each.key)].push_back(each);
  for (const auto& [shard, put_there] : expected) {
    BOOST_TEST(over.queue_of(shard) == queue(shard));
    const auto from = make_reader(shard);
    const auto& found = from->read();
    BOOST_TEST_REQUIRE(found.size() == put_there.size(), shard);
    for (std::size_t i = 0; i < found.size(); ++i) {
      BOOST_TEST(found[i].key == put_there[i].key);
      BOOST_TEST(found[i].data == put_there[i].data);
    }
  }
}

BOOST_AUTO_TEST_CASE(many_callers_are_served_in_the_order_of_their_calls) {
  auto by = producer();
  std::deque<recorder<std::uint64_t>> calls;
  for (const auto& each : numbers(1, 2'000)) {
    calls.emplace_back(executor());
    by.async_put("k", each, calls.back().token());
  }
  BOOST_TEST_REQUIRE(run_until([&] { return std::ranges::all_of(calls, &recorder<std::uint64_t>::done); }));
  for (std::uint64_t i = 0; i < 2'000; ++i) check({calls[i].error(), calls[i].result<0>()}, {}, i + 1);
  has_put(2'000);
}

BOOST_AUTO_TEST_CASE(under_cut_connections_each_message_is_put_once_and_in_order) {
  auto by = producer();
  put_well(by, "1");
  for (int cuts = 0; cuts < 10; ++cuts) {
    recorder<std::uint64_t> waits(executor());
    const int first = 2 + 2'000 * cuts;
    by.async_put_all(with_key("k", first, first + 1'999), waits.token());
    const auto wanted = static_cast<std::size_t>(first + 150 * cuts);
    BOOST_TEST_REQUIRE(run_until([&] { return waits.done() || has_depth(wanted); }));
    between->cut();
    BOOST_TEST_REQUIRE(run_until([&] { return waits.done(); }));
    check({waits.error(), waits.result<0>()}, {}, 2'000u);
  }
  has_put(20'001);
}

BOOST_AUTO_TEST_CASE(messages_whose_confirms_are_lost_are_sent_again_with_the_same_ids) {
  auto by = producer();
  put_well(by, "1");
  between->blackhole(testcluster::proxy::way::to_client);
  recorder<std::uint64_t> waits(executor());
  by.async_put_all(with_key("k", 2, 50), waits.token());
  BOOST_TEST_REQUIRE(run_until([&] { return has_depth(50) && between->lost_bytes() > 0; }));
  BOOST_TEST(!waits.done());
  between->heal();
  BOOST_TEST_REQUIRE(run_until([&] { return waits.done(); }));
  check({waits.error(), waits.result<0>()}, {}, 49u);
  has_put(50);
  BOOST_TEST(reader().repeats() == 49u);
}

BOOST_AUTO_TEST_CASE(what_was_put_twice_has_its_effect_once) {
  auto by = producer();
  put_well(by, "1");
  for (int times = 0; times < 3; ++times) {
    const auto lost = between->lost_bytes();
    between->blackhole(testcluster::proxy::way::to_client);
    recorder<std::uint64_t> waits(executor());
    const int first = 2 + 20 * times;
    by.async_put_all(with_key("k", first, first + 19), waits.token());
    const auto wanted = static_cast<std::size_t>(21 + 40 * times);
    BOOST_TEST_REQUIRE(run_until([&] { return has_depth(wanted) && between->lost_bytes() > lost; }));
    between->heal();
    BOOST_TEST_REQUIRE(run_until([&] { return waits.done(); }));
    check({waits.error(), waits.result<0>()}, {}, 20u);
  }
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(61));
  put_well(by, "62");
  BOOST_TEST_REQUIRE(has_results(62));
  BOOST_TEST(results() == numbers(1, 62), boost::test_tools::per_element());
  BOOST_TEST(who.does.attempts.size() == 62u);
  end_when_all_is_acknowledged();
}

BOOST_AUTO_TEST_CASE(a_silent_broker_is_left_and_the_messages_are_put_once) {
  with.heartbeat = 1s;
  with.timeout = 500ms;
  auto by = producer();
  put_well(by, "1");
  between->freeze(true);
  recorder<std::uint64_t> waits(executor());
  by.async_put_all(with_key("k", 2, 50), waits.token());
  BOOST_TEST_REQUIRE(run_until([&] { return has_logged("connection_lost rabbitmq"); }));
  BOOST_TEST(!waits.done());
  between->freeze(false);
  BOOST_TEST_REQUIRE(run_until([&] { return waits.done(); }));
  check({waits.error(), waits.result<0>()}, {}, 49u);
  has_put(50);
}

BOOST_AUTO_TEST_CASE(under_kills_of_the_broker_each_message_is_put_once_and_in_order) {
  with.hosts = broker().address();
  auto by = producer();
  put_well(by, "1");
  for (int kills = 0; kills < 3; ++kills) {
    recorder<std::uint64_t> waits(executor());
    const int first = 2 + 3'000 * kills;
    by.async_put_all(with_key("k", first, first + 2'999), waits.token());
    const auto wanted = static_cast<std::size_t>(first + 500 * kills);
    BOOST_TEST_REQUIRE(run_until([&] { return waits.done() || has_depth(wanted); }));
    await_kept();
    broker().kill();
    client().disconnect();
    beside([&] { broker().start(); });
    BOOST_TEST_REQUIRE(run_until([&] { return waits.done(); }));
    check({waits.error(), waits.result<0>()}, {}, 3'000u);
  }
  has_put(9'001);
}

BOOST_AUTO_TEST_CASE(a_producer_that_ends_and_begins_anew_has_another_epoch) {
  {
    auto by = producer();
    put_well(by, "1");
  }
  auto next = producer();
  check(put(next, "2"), {}, 1);
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(2));
  auto third = producer();
  put_well(third, "3");
  BOOST_TEST_REQUIRE(has_results(3));
  BOOST_TEST(results() == numbers(1, 3), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(two_objects_of_a_name_go_on_both) {
  auto one = producer();
  auto other = producer();
  for (int i = 1; i <= 10; i += 2) {
    put_well(one, std::to_string(i));
    put_well(other, std::to_string(i + 1));
  }
  has_put(10);
}

BOOST_AUTO_TEST_CASE(bad_names_are_refused) {
  for (const std::string name : {"", "a/b", "a\nb", ".", ".."})
    BOOST_CHECK_THROW(producer(name), std::invalid_argument);
  BOOST_CHECK_THROW(producer(std::string(201, 'x')), std::invalid_argument);
  BOOST_CHECK_THROW(rabbit_producer(rabbit_queues(), "p"), std::invalid_argument);
  BOOST_TEST(producer().path() == "/t");
  BOOST_TEST(producer().options().queue == with.queue);
  rabbit_producer nothing;
  BOOST_TEST(nothing.path().empty());
  BOOST_TEST(nothing.options().queue.empty());
  check(run(nothing.async_put("k", "1", tuple)), errc::closed, 0u);
  check(run(nothing.async_put_all({{"k", "1"}}, tuple)), errc::closed, 0u);
}

BOOST_AUTO_TEST_SUITE_END()
