// What operators ask of streams, and what they change.
#include "redis/operators_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(redis_operators, operators_case)

#include "brokers/letter_cases.hpp"

BOOST_AUTO_TEST_CASE(a_group_is_moved_to_the_begin_while_its_consumer_waits) {
  put_all(numbers(1, 5));
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(5));
  BOOST_TEST(!seek(source_position::begin()));
  BOOST_TEST_REQUIRE(has_results(10));
  auto twice = numbers(1, 5);
  for (const auto& each : numbers(1, 5)) twice.push_back(each);
  BOOST_TEST(results() == twice, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_new_group_is_moved_to_the_end) {
  put_all(numbers(1, 5));
  BOOST_TEST(!seek(source_position::end()));
  put_all(numbers(6, 7));
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(2));
  BOOST_TEST(results() == numbers(6, 7), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_group_is_moved_to_an_entry_or_to_the_next_one) {
  std::vector<std::string> ids;
  for (const auto& each : numbers(1, 5)) ids.push_back(client().add("orders:0", each, each));
  BOOST_TEST(!seek(source_position::at(ids[2])));
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(3));
  BOOST_TEST(results() == numbers(3, 5), boost::test_tools::per_element());
  client().get({"XDEL", "orders:0", ids[3]});
  BOOST_TEST(!seek(source_position::at(ids[3])));
  BOOST_TEST_REQUIRE(has_results(4));
  BOOST_TEST(results().back() == "5");
}

// It is no loss that the entry in front of the place was never there.
BOOST_AUTO_TEST_CASE(a_place_in_front_of_all_is_the_begin) {
  put_all(numbers(1, 3));
  for (const auto* each : {"5-0", "0-0"}) BOOST_TEST(!seek(source_position::at(each)));
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(3));
  BOOST_TEST(!has_logged("lost"));
}

BOOST_AUTO_TEST_CASE(a_stream_that_is_not_there_yet_has_an_end) {
  BOOST_TEST(!seek(source_position::end()));
  put_all(numbers(1, 2));
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(2));
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused) {
  auto over = streams();
  for (const auto* group : {"", "a/b", ".."}) {
    BOOST_TEST((seek(source_position::begin(), group) == errc::bad_arguments), group);
    BOOST_TEST((std::get<0>(run(over.async_lag(group, tuple))) == errc::bad_arguments), group);
    BOOST_TEST((std::get<0>(run(over.async_dead_letters(group, tuple))) == errc::bad_arguments), group);
  }
  for (const auto* id : {"", "5", "5-x", "-", "+"})
    BOOST_TEST((seek(source_position::at(id)) == errc::bad_arguments), id);
  auto no_shard = run(over.async_seek(1, "g", source_position::begin(), tuple));
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
  BOOST_TEST(!seek(source_position::begin()));
  client().get({"EVAL", "for i = 1, 10001 do redis.call('XADD', KEYS[1], '*', 'data', i) end", "1", "orders:0"});
  BOOST_TEST(lag().messages == 10'000u);
  BOOST_TEST(lag().is_more);
}

BOOST_AUTO_TEST_CASE(a_position_of_somebody_else_is_told) {
  BOOST_TEST(!seek(source_position::begin()));
  BOOST_TEST(!std::get<0>(run(zk().async_set("/t/0000/_at/g", "mine", any_version, tuple))));
  BOOST_TEST((std::get<0>(run(streams().async_lag("g", tuple))) == errc::foreign_data));
}

BOOST_AUTO_TEST_CASE(while_the_broker_is_away_they_end_with_the_time_for_retries) {
  BOOST_TEST(!seek(source_position::begin()));
  auto hasty_options = redis_case::logging();
  hasty_options.retry.limit = 300ms;
  auto hasty = connect(hasty_options);
  redis_streams over(hasty, "/t", with);
  broker().stop();
  client().disconnect();
  for (const auto& told : {std::get<0>(run(over.async_lag("g", tuple))),
                           std::get<0>(run(over.async_seek(0, "g", source_position::end(), tuple)))})
    BOOST_TEST((told == redis_errc::unavailable), told.message());
  BOOST_TEST(!std::get<0>(run(over.async_seek(0, "g", source_position::begin(), tuple))), "needs no broker");
}

BOOST_AUTO_TEST_SUITE_END()
