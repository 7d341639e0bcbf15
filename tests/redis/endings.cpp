// What ends a consumer of a stream, and what it does with a stream that has lost entries.
#include "redis/redis_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

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
