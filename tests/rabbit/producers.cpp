// Putting into queues so that each message has its effect once.
#include <atomic>
#include <map>
#include <memory>
#include <stdexcept>
#include <thread>

#include <boost/asio/detached.hpp>

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

// Producers whose session, context or handle ends, of many threads, and of many and large messages.

BOOST_FIXTURE_TEST_SUITE(rabbit_producer_endings, producer_case)

#include "brokers/producer_ending_cases.hpp"

BOOST_AUTO_TEST_CASE(a_session_that_is_closed_ends_the_puts_that_wait_for_a_confirm) {
  auto& between = use_proxy();
  auto own = connect(logging());
  rabbit_producer by(queues(own), "p");
  put_well(by, "1");
  between.blackhole(testcluster::proxy::way::to_client);
  recorder<std::uint64_t> waits(executor());
  by.async_put("k", "2", waits.token());
  BOOST_TEST_REQUIRE(run_until([&] { return has_depth(2); }));
  BOOST_TEST(!waits.done());
  BOOST_TEST(!std::get<0>(run(own.async_close(tuple))));
  BOOST_TEST_REQUIRE(run_until([&] { return waits.done(); }));
  check(waits.error(), errc::closed);
  between.heal();
}

BOOST_AUTO_TEST_CASE(large_messages_and_calls_over_many_queues) {
  with.shards = 8;
  auto by = producer();
  messages many;
  for (int i = 0; i < 10'000; ++i) many.push_back({"key " + std::to_string(i), std::to_string(i)});
  check(put_all_of(by, std::move(many)), {}, 10'000u);
  std::size_t found = 0;
  for (std::uint32_t shard = 0; shard < 8; ++shard) found += client().depth(queue(shard));
  BOOST_TEST(found == 10'000u);
  const auto over = queues(zk());
  std::string key("k\0y", 3);
  while (over.shard_of(key) != 0) key.push_back('y');
  std::string large(largest_message, 'x');
  large[1] = '\0';
  check(put(by, large, key), {});
  check(put(by, "", key), {});
  const auto& all_of_first = reader().read();
  BOOST_TEST_REQUIRE(all_of_first.size() >= 2u);
  const auto& last_but_one = all_of_first[all_of_first.size() - 2];
  BOOST_TEST(last_but_one.key == key);
  BOOST_TEST((last_but_one.data == large));
  BOOST_TEST(all_of_first.back().data.empty());
}

BOOST_AUTO_TEST_SUITE_END()

// What goes wrong beside a producer: queues that are deleted or are others', records of others, brokers that refuse.

namespace {

/// Two shards, and a key of each.
struct two_queues_case : producer_case {
  two_queues_case() {
    with.shards = 2;
    const auto over = queues(zk());
    while (over.shard_of(of_first) != 0) ++of_first.back();
    while (over.shard_of(of_second) != 1) ++of_second.back();
  }

  std::string of_first = "a";
  std::string of_second = "a";
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(rabbit_producer_faults, two_queues_case)

BOOST_AUTO_TEST_CASE(a_deleted_queue_is_told_to_those_that_put_into_it_only) {
  auto by = producer();
  check(put(by, "1", of_first), {});
  check(put(by, "x", of_second), {});
  client().remove(queue(1));
  recorder<std::uint64_t> mixed(executor());
  recorder<std::uint64_t> second(executor()), first(executor());
  by.async_put_all({{of_first, "2"}, {of_second, "x"}, {of_first, "3?"}}, mixed.token());
  by.async_put(of_second, "x", second.token());
  by.async_put(of_first, "4", first.token());
  BOOST_TEST_REQUIRE(run_until([&] { return mixed.done() && second.done() && first.done(); }));
  check({mixed.error(), mixed.result<0>()}, rabbit_errc::missing_queue, 1u);
  check(second.error(), rabbit_errc::missing_queue);
  check(first.error(), {});
  BOOST_TEST(!client().look_at(queue(1)).has_value());
  auto found = reader().read_data();
  std::erase(found, "3?");  // it may have been sent before the broker had returned the one in front of it
  BOOST_TEST(found == std::vector<std::string>({"1", "2", "4"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_deleted_queue_that_is_made_anew_takes_messages_again) {
  auto by = producer();
  check(put(by, "x", of_second), {});
  client().remove(queue(1));
  check(put(by, "x", of_second), rabbit_errc::missing_queue);
  check(put(by, "x", of_second), rabbit_errc::missing_queue);
  check(put(by, "x", of_first), {});
  client().declare(queue(1));
  check(put(by, "1", of_second), {});
  check(put(by, "2", of_second), {});
  BOOST_TEST(take_what_is_left(1) == numbers(1, 2), boost::test_tools::per_element());
  auto next = producer();
  client().remove(queue(1));
  check(put(next, "3", of_second), {});  // an object that has not put into it yet makes it
  BOOST_TEST(take_what_is_left(1) == std::vector<std::string>({"3"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_queue_of_another_type_is_told_and_left_alone) {
  client().declare_classic(queue(1));
  auto by = producer();
  check(put(by, "1", of_first), {}, 1);
  check(put(by, "x", of_second), rabbit_errc::other_queue, 0);
  check(put(by, "2", of_first), {}, 2);
  has_put(2);
  BOOST_TEST(client().depth(queue(1)) == 0u);
}

BOOST_AUTO_TEST_CASE(what_is_too_large_is_refused_and_the_rest_goes_on) {
  auto by = producer();
  check(put_all_of(by, {}), {}, 0u);
  const std::string large((std::size_t{64} << 20) - of_first.size() + 1, 'x');
  check(put(by, large, of_first), errc::too_large);
  check(put(by, "x", std::string(1'001, 'k')), errc::too_large);
  check(put_all_of(by, {{of_first, "x"}, {of_first, large}}), errc::too_large, 0u);
  BOOST_TEST(!client().look_at(queue()).has_value());
  check(put(by, "1", of_first), {});
  has_put(1);
}

// The broker takes less than a producer does: `max_message_size`.
BOOST_AUTO_TEST_CASE(what_is_too_large_for_the_broker_is_refused_and_the_rest_goes_on) {
  auto by = producer();
  check(put(by, "1", of_first), {});
  recorder<std::uint64_t> refused(executor()), behind(executor());
  by.async_put(of_first, std::string(largest_message + 1, 'x'), refused.token());
  by.async_put(of_first, "2", behind.token());
  BOOST_TEST_REQUIRE(run_until([&] { return refused.done() && behind.done(); }));
  check(refused.error(), rabbit_errc::refused);
  check(behind.error(), {});
  check(put(by, "3", of_first), {});
  has_put(3);
}

BOOST_AUTO_TEST_CASE(a_path_or_a_record_of_somebody_else_is_left_alone) {
  create("/t", "mine");
  auto by = producer();
  check(put(by, "1", of_first), errc::foreign_data);
  BOOST_TEST(get("/t").data == "mine");
  BOOST_TEST(!client().look_at(queue()).has_value());
  BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_set("/t", "", any_version, tuple))));
  check(put(by, "1", of_first), {});
  BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_set("/t/_producers/p", "mine", any_version, tuple))));
  auto next = producer();
  check(put(next, "x", of_first), errc::foreign_data);
  BOOST_TEST(get("/t/_producers/p").data == "mine");
  has_put(1);
}

BOOST_AUTO_TEST_CASE(another_number_of_shards_is_refused) {
  auto by = producer();
  check(put(by, "1", of_first), {});
  with.shards = 3;
  auto wider = producer();
  check(put(wider, "x", of_first), errc::size_mismatch);
  with.shards = 2;
  has_put(1);
}

BOOST_AUTO_TEST_CASE(a_wrong_password_is_told_and_its_text_is_not) {
  with.password = "open barley";
  auto by = producer();
  const auto error = put(by, "x", of_first);
  check(error, rabbit_errc::refused_credentials);
  BOOST_TEST(has_logged("authentication_failed rabbitmq"));
  BOOST_TEST(!has_logged("barley"));
}

// It has no room on its disk, so it reads nothing more from a connection on which a message has come.
BOOST_AUTO_TEST_CASE(a_broker_that_asks_for_a_pause_is_waited_for_and_its_reason_told) {
  use_own_broker({.extra_config = {"disk_free_limit.absolute = 1000000GB"}});
  auto own = connect(logging());
  rabbit_producer by(queues(own), "p");
  recorder<std::uint64_t> first(executor()), second(executor());
  by.async_put(of_first, "1", first.token());
  BOOST_TEST_REQUIRE(run_until([&] { return first.done() || has_logged("low on disk"); }));
  by.async_put(of_first, "2", second.token());
  BOOST_TEST_REQUIRE(run_until([&] { return has_logged("low on disk"); }));
  BOOST_TEST(!second.done());
  for (auto* each : {&first, &second}) each->cancel(asio::cancellation_type::total);
  BOOST_TEST_REQUIRE(run_until([&] { return first.done() && second.done(); }));
  check(second.error(), error_code(asio::error::operation_aborted));
  BOOST_TEST(!std::get<0>(run(own.async_close(tuple))));  // until then what was called is put all the same
}

BOOST_AUTO_TEST_SUITE_END()
