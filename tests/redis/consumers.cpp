// Consumers of a stream: order, retries, dead letters, what is stored, and what is removed from the stream.
#include <stdexcept>

#include "redis/redis_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(redis_consumers, redis_case)

BOOST_AUTO_TEST_CASE(entries_are_consumed_in_order_and_once) {
  put_all(numbers(1, 300));
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(300));
  put_all(numbers(301, 350));
  const auto last = client().add("orders:0", "351", "351");
  BOOST_TEST_REQUIRE(has_results(351));
  BOOST_TEST(results() == numbers(1, 351), boost::test_tools::per_element());
  BOOST_TEST(position() == "{\"zkrecipes\":\"stream_position\",\"last\":\"" + last + "\"}");
  BOOST_TEST(get("/t").data ==
             "{\"zkrecipes\":\"redis_streams\",\"count\":1,\"hash\":\"crc32\",\"stream\":\"orders\"}");
  BOOST_TEST(who.does.status().done == 351u);
  BOOST_TEST(client().length("orders:0") == 351);
}

BOOST_AUTO_TEST_CASE(a_group_begins_with_the_first_entry_and_goes_on_where_it_was) {
  put_all(numbers(1, 10));
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(10));
  end_runs(all);
  put_all(numbers(11, 20));
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

BOOST_AUTO_TEST_CASE(a_message_that_throws_becomes_a_dead_letter_of_its_group) {
  put_all({"1"});
  const auto id = client().add("orders:0", "smith", "poison");
  put_all({"2"});
  auto& who = consume([](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "poison") throw std::runtime_error("it can not be read");
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(has_results(2));
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().parked == 1; }));
  BOOST_TEST(results() == numbers(1, 2), boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(letters().size() == 1u);
  for (const auto* part : {"poison", "it can not be read", "smith"}) {
    BOOST_TEST(letter().find(part) != std::string::npos, letter());
  }
  BOOST_TEST(letter().find("0000/" + id) != std::string::npos, letter());
  BOOST_TEST(who.does.attempts["poison"] == std::vector<std::int32_t>({1, 2, 3}), boost::test_tools::per_element());
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

BOOST_AUTO_TEST_CASE(by_key_only_the_key_that_fails_waits) {
  options.order = message_order::by_key;
  options.parallel = 8;
  options.retry.first = options.retry.longest = 1h;
  for (const auto* each : {"a1", "a2", "b1", "a3", "b2"}) client().add("orders:0", std::string(each, 1), each);
  consume([](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "a1" && item.attempts == 1) co_return message_outcome::again(100ms, "not yet");
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(has_results(5));
  BOOST_TEST(results() == std::vector<std::string>({"b1", "b2", "a1", "a2", "a3"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_was_settled_ahead_is_not_processed_again_by_the_next_term) {
  options.order = message_order::none;
  options.parallel = 8;
  options.retry.first = options.retry.longest = 1h;
  bool is_cured = false;
  put_all(numbers(1, 40));
  auto& who = consume([&](term, message item) -> asio::awaitable<message_outcome> {
    const bool fails = item.data == "3" || item.data == "17" || item.data == "25";
    if (fails && !is_cured) co_return message_outcome::again("not yet");
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().done == 37 && who.does.status().resting == 3; }));
  BOOST_TEST(position().find("ahead") != std::string::npos, position());
  BOOST_TEST(position().find("failed") != std::string::npos, position());
  is_cured = true;
  who.coordinator.resign();
  BOOST_TEST_REQUIRE(has_results(40));
  auto seen = results();
  std::ranges::sort(seen, {}, [](const std::string& each) { return std::stoi(each); });
  BOOST_TEST(seen == numbers(1, 40), boost::test_tools::per_element());
  for (const auto& each : numbers(1, 40)) {
    const bool failed = each == "3" || each == "17" || each == "25";
    const auto expected = failed ? std::vector<std::int32_t>{1, 2} : std::vector<std::int32_t>{1};
    BOOST_TEST(who.does.attempts[each] == expected, each);
  }
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

BOOST_AUTO_TEST_CASE(a_superseded_owner_can_not_move_the_position) {
  put_all(numbers(1, 3));
  hold_point held(executor());
  auto& old = consume([&](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "2") co_await held.pass_in_the_end();
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(run_until([&] { return held.is_reached(); }));
  BOOST_TEST_REQUIRE(has_results(1));
  const auto before = position();
  auto newer = get("/e-g").data;
  newer.replace(newer.find(R"("epoch":1)"), 9, R"("epoch":2)");
  BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_set("/e-g", newer, any_version, tuple))));
  held.open();
  BOOST_TEST_REQUIRE(run_until([&] { return !old.does.ends.empty(); }));
  BOOST_TEST((old.does.ends.front() == term_end::superseded));
  BOOST_TEST(position() == before);
  run(zk().async_set("/e-g", "", any_version, tuple));  // the newer term, which nobody leads, is over
  BOOST_TEST_REQUIRE(has_results(3));
  BOOST_TEST(results() == numbers(1, 3), boost::test_tools::per_element());
  BOOST_TEST(position() != before);
  BOOST_TEST(old.does.attempts["2"].size() == 2u);
}

BOOST_AUTO_TEST_CASE(replies_that_are_lost_change_nothing) {
  options.window = 16;
  put_all(numbers(1, 200));
  create_election("g");
  all.emplace_back(connect_far(), with, "g", options, career_traits(), &succeed);
  for (std::size_t i = 1; i <= 4; ++i) {
    BOOST_TEST_REQUIRE(has_results(30 * i));
    own().drop_reply(testcluster::op::multi);
  }
  BOOST_TEST_REQUIRE(has_results(200));
  BOOST_TEST(results() == numbers(1, 200), boost::test_tools::per_element());
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
}

BOOST_AUTO_TEST_SUITE_END()
