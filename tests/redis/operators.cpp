// What operators ask of streams, and what they change.
#include <stdexcept>

#include "redis/redis_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct operators_case : redis_case {
  redis_streams streams() { return redis_streams(zk(), "/t", with); }
  error_code seek(redis_position where, const std::string& group = "g") {
    auto done = run(streams().async_seek(0, group, std::move(where), tuple));
    return std::get<0>(done);
  }
  redis_lag lag(const std::string& group = "g") {
    auto told = run(streams().async_lag(group, tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(told), std::get<0>(told).message());
    BOOST_TEST_REQUIRE(std::get<1>(told).size() == 1u);
    return std::get<1>(told).front();
  }
  std::vector<dead_letter> dead() {
    auto read = run(streams().async_dead_letters("g", tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(read), std::get<0>(read).message());
    return std::get<1>(read);
  }
  /// "smith" and "poison", which no consumer can process, as a letter.
  dead_letter make_letter() {
    client().add("orders:0", "smith", "poison");
    auto& who = consume([](term, const message&) -> asio::awaitable<message_outcome> {
      throw std::runtime_error("it can not be read");
    });
    BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().parked == 1; }));
    end_runs(all);
    const auto found = dead();
    BOOST_TEST_REQUIRE(found.size() == 1u);
    return found.front();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(redis_operators, operators_case)

BOOST_AUTO_TEST_CASE(a_group_is_moved_to_the_begin_while_its_consumer_waits) {
  put_all(numbers(1, 5));
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(5));
  BOOST_TEST(!seek(redis_position::begin()));
  BOOST_TEST_REQUIRE(has_results(10));
  auto twice = numbers(1, 5);
  for (const auto& each : numbers(1, 5)) twice.push_back(each);
  BOOST_TEST(results() == twice, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_new_group_is_moved_to_the_end) {
  put_all(numbers(1, 5));
  BOOST_TEST(!seek(redis_position::end()));
  put_all(numbers(6, 7));
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(2));
  BOOST_TEST(results() == numbers(6, 7), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_group_is_moved_to_an_entry_or_to_the_next_one) {
  std::vector<std::string> ids;
  for (const auto& each : numbers(1, 5)) ids.push_back(client().add("orders:0", each, each));
  BOOST_TEST(!seek(redis_position::at(ids[2])));
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(3));
  BOOST_TEST(results() == numbers(3, 5), boost::test_tools::per_element());
  client().get({"XDEL", "orders:0", ids[3]});
  BOOST_TEST(!seek(redis_position::at(ids[3])));
  BOOST_TEST_REQUIRE(has_results(4));
  BOOST_TEST(results().back() == "5");
}

// It is no loss that the entry in front of the place was never there.
BOOST_AUTO_TEST_CASE(a_place_in_front_of_all_is_the_begin) {
  put_all(numbers(1, 3));
  BOOST_TEST(!seek(redis_position::at("5-0")));
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(3));
  BOOST_TEST(!has_logged("lost"));
}

BOOST_AUTO_TEST_CASE(a_stream_that_is_not_there_yet_has_an_end) {
  BOOST_TEST(!seek(redis_position::end()));
  put_all(numbers(1, 2));
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(2));
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused) {
  auto over = streams();
  for (const auto* group : {"", "a/b", ".."}) {
    BOOST_TEST((seek(redis_position::begin(), group) == errc::bad_arguments), group);
    BOOST_TEST((std::get<0>(run(over.async_lag(group, tuple))) == errc::bad_arguments), group);
    BOOST_TEST((std::get<0>(run(over.async_dead_letters(group, tuple))) == errc::bad_arguments), group);
  }
  for (const auto* id : {"", "5", "5-x", "-", "+"})
    BOOST_TEST((seek(redis_position::at(id)) == errc::bad_arguments), id);
  auto no_shard = run(over.async_seek(1, "g", redis_position::begin(), tuple));
  BOOST_TEST((std::get<0>(no_shard) == errc::bad_arguments));
  dead_letter other;
  other.name = "letter-0000000000";
  for (const auto* item : {"", "0000/x", "0001/5-1", "5-1", "0000/5.1"}) {
    other.item = item;
    BOOST_TEST((std::get<0>(run(over.async_revive("g", other, tuple))) == errc::bad_arguments), item);
  }
  redis_streams nothing;
  BOOST_TEST((std::get<0>(run(nothing.async_lag("g", tuple))) == errc::closed));
}

BOOST_AUTO_TEST_CASE(the_lag_is_what_is_behind_the_position) {
  BOOST_TEST((std::get<0>(run(streams().async_lag("g", tuple))) == errc::no_node));
  put_all(numbers(1, 12));
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(12));
  BOOST_TEST_REQUIRE(run_until([&] { return lag().messages == 0; }));
  BOOST_TEST((lag().oldest == 0ms));
  BOOST_TEST(lag("h").messages == 12u);
  BOOST_TEST((lag("h").oldest > 0ms));
  end_runs(all);
  put_all(numbers(13, 15));
  BOOST_TEST(lag().messages == 3u);
  BOOST_TEST(!lag().is_more);
}

BOOST_AUTO_TEST_CASE(a_long_lag_is_counted_up_to_a_bound) {
  create("/t");
  BOOST_TEST(!seek(redis_position::begin()));
  client().get({"EVAL", "for i = 1, 10001 do redis.call('XADD', KEYS[1], '*', 'data', i) end", "1", "orders:0"});
  BOOST_TEST(lag().messages == 10'000u);
  BOOST_TEST(lag().is_more);
}

BOOST_AUTO_TEST_CASE(a_position_of_somebody_else_is_told) {
  BOOST_TEST(!seek(redis_position::begin()));
  BOOST_TEST(!std::get<0>(run(zk().async_set("/t/0000/_at/g", "mine", any_version, tuple))));
  BOOST_TEST((std::get<0>(run(streams().async_lag("g", tuple))) == errc::foreign_data));
}

BOOST_AUTO_TEST_CASE(a_revived_letter_is_the_last_entry_and_is_processed) {
  const auto letter = make_letter();
  put_all({"1"});
  BOOST_TEST(!std::get<0>(run(streams().async_revive("g", letter, tuple))));
  BOOST_TEST(dead().empty());
  std::vector<std::string> keys;
  consume([&](term, message item) -> asio::awaitable<message_outcome> {
    keys.push_back(item.key);
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(has_results(2));
  BOOST_TEST(results() == std::vector<std::string>({"1", "poison"}), boost::test_tools::per_element());
  BOOST_TEST(keys.back() == "smith");
  BOOST_TEST((std::get<0>(run(streams().async_revive("g", letter, tuple))) == errc::no_node));
  BOOST_TEST(client().length("orders:0") == 3);
}

BOOST_AUTO_TEST_CASE(a_discarded_letter_is_gone) {
  const auto letter = make_letter();
  BOOST_TEST(!std::get<0>(run(streams().async_discard("g", letter, tuple))));
  BOOST_TEST(dead().empty());
  BOOST_TEST((std::get<0>(run(streams().async_discard("g", letter, tuple))) == errc::no_node));
  BOOST_TEST(client().length("orders:0") == 1);
}

BOOST_AUTO_TEST_CASE(while_the_broker_is_away_they_end_with_the_time_for_retries) {
  BOOST_TEST(!seek(redis_position::begin()));
  auto hasty_options = redis_case::logging();
  hasty_options.retry.limit = 300ms;
  auto hasty = connect(hasty_options);
  redis_streams over(hasty, "/t", with);
  broker().stop();
  client().disconnect();
  for (const auto& told : {std::get<0>(run(over.async_lag("g", tuple))),
                           std::get<0>(run(over.async_seek(0, "g", redis_position::end(), tuple)))})
    BOOST_TEST((told == redis_errc::unavailable), told.message());
  BOOST_TEST(!std::get<0>(run(over.async_seek(0, "g", redis_position::begin(), tuple))), "needs no broker");
}

BOOST_AUTO_TEST_SUITE_END()
