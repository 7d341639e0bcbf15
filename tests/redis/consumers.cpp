// Consumers of a stream: order, retries, dead letters, what is stored, and what is removed from the stream.
#include <random>
#include <stdexcept>

#include "redis/redis_case.hpp"
#include "support/line_process.hpp"

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

// What ends a consumer of a stream, and what it does with a stream that has lost entries.

BOOST_FIXTURE_TEST_SUITE(redis_endings, redis_case)

#include "brokers/ending_cases.hpp"

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(redis_losses, lossy_case<redis_case>)

BOOST_AUTO_TEST_CASE(a_stream_that_has_lost_consumed_entries_ends_the_run_and_is_told) {
  put_all(numbers(1, 5));
  client().get({"SAVE"});
  put_all(numbers(6, 10));
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(10));
  lose_what_was_put_since_the_save();
  check_failure(who, redis_errc::source_regressed);
  BOOST_TEST(has_logged("orders:0: the last id of the stream is "));
  BOOST_TEST(client().data_of("orders:0") == numbers(1, 5), boost::test_tools::per_element());
  // Another run ends in the same way, until an operator has decided.
  auto& next = consume(&succeed);
  BOOST_TEST_REQUIRE(has_failed(next));
  all.clear();
}

BOOST_AUTO_TEST_CASE(a_stream_that_has_gone_is_told) {
  put_all(numbers(1, 5));
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(5));
  lose_what_was_put_since_the_save();
  check_failure(who, redis_errc::source_regressed);
}

BOOST_AUTO_TEST_CASE(a_loss_is_told_also_if_new_entries_were_put_meanwhile) {
  put_all(numbers(1, 5));
  client().get({"SAVE"});
  put_all(numbers(6, 10));
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(10));
  end_runs(all);
  lose_what_was_put_since_the_save();
  put_all(numbers(11, 15));
  check_failure(consume(&succeed), redis_errc::source_regressed);
  BOOST_TEST(has_logged("which was consumed or read, is not in the stream"));
}

BOOST_AUTO_TEST_CASE(a_consumer_can_be_told_to_go_on_with_what_is_put_afterwards) {
  with.regress = redis_regress::go_on;
  put_all(numbers(1, 5));
  client().get({"SAVE"});
  put_all(numbers(6, 10));
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(10));
  lose_what_was_put_since_the_save();
  put_all(numbers(11, 15));
  BOOST_TEST_REQUIRE(has_results(15));
  BOOST_TEST(results() == numbers(1, 15), boost::test_tools::per_element());
  BOOST_TEST(has_logged("going on with what is put from now on"));
}

BOOST_AUTO_TEST_CASE(a_group_that_does_not_know_of_a_loss_yet_keeps_others_from_trimming) {
  const auto accept = [](term, message) -> asio::awaitable<message_outcome> { co_return message_outcome::done(); };
  with.regress = redis_regress::go_on;
  with.groups = {"g", "h"};
  put_all(numbers(1, 300));
  client().get({"SAVE"});
  put_all(numbers(301, 310));
  consume(accept);
  consume(accept, "h");
  BOOST_TEST_REQUIRE(run_until([&] { return all[0].does.status().done == 310 && all[1].does.status().done == 310; }));
  end_runs(all);
  lose_what_was_put_since_the_save();
  auto& g = consume(accept);
  BOOST_TEST_REQUIRE(run_until([&] { return has_logged("orders:0: the last id of the stream is "); }));
  put_all(numbers(311, 320));
  BOOST_TEST_REQUIRE(run_until([&] { return g.does.status().done == 10; }));
  put_all({"321"});
  BOOST_TEST_REQUIRE(run_until([&] { return g.does.status().done == 11; }));
  BOOST_TEST(client().length("orders:0") == 311);
  consume(accept, "h");
  BOOST_TEST_REQUIRE(run_until([&] { return has_logged("which was consumed or read, is not in the stream"); }));
}

BOOST_AUTO_TEST_CASE(what_is_in_hand_when_it_is_lost_is_still_done) {
  with.regress = redis_regress::go_on;
  put_all(numbers(1, 5));
  client().get({"SAVE"});
  put_all(numbers(6, 10));
  hold_point held(executor());
  consume([&](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "8") co_await held.pass_in_the_end();
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(has_results(7));
  lose_what_was_put_since_the_save();
  BOOST_TEST_REQUIRE(run_until([&] { return has_logged("going on with"); }));
  // An id in front of those that were lost, as by a clock that was set back.
  const auto id = last_id();
  const auto next = id.substr(0, id.find('-') + 1) + std::to_string(std::stoi(id.substr(id.find('-') + 1)) + 1);
  client().get({"XADD", "orders:0", next, "key", "11", "data", "11"});
  held.open();
  BOOST_TEST_REQUIRE(has_results(11));
  BOOST_TEST(results() == numbers(1, 11), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

// Processes that consume a stream are killed while entries are put and the broker is killed, too.

BOOST_FIXTURE_TEST_SUITE(redis_kills, redis_case)

BOOST_AUTO_TEST_CASE(each_entry_has_its_effect_once_and_in_order) {
  auto& own_broker = use_own_broker({});
  create_election("g");
  std::mt19937 random(7);
  int number = 0;
  const auto put_some = [&] {
    for (int i = 0; i < 200; ++i) client().ask({"XADD", "orders:0", "*", "key", "k", "data", std::to_string(++number)});
  };
  const std::vector<std::string> command{KILLED_WORKER, hosts_of_worker(), root(), with.hosts};
  std::deque<line_process> workers;
  const auto begin = [&] { workers.emplace_back("worker", command); };
  begin();
  begin();
  for (int kills = 0; kills < 5; ++kills) {
    put_some();
    const auto wanted = static_cast<std::size_t>(number) - 199 + random() % 50;
    BOOST_TEST_REQUIRE(run_until([&] { return children("/results").size() >= wanted; }));
    workers.pop_front();  // it may be the one that leads
    begin();
    if (kills % 2 == 0) continue;
    own_broker.kill();
    client().disconnect();
    own_broker.start();
  }
  put_all({"last"});
  const auto kept = client().data_of("orders:0");
  BOOST_TEST_REQUIRE(has_results(kept.size()));
  workers.clear();
  BOOST_TEST(results() == kept, boost::test_tools::per_element());
  BOOST_TEST(kept.size() == 1'001u);
}

BOOST_AUTO_TEST_SUITE_END()
