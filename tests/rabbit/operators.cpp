// What operators ask of queues, and what they change.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "brokers/letters_case.hpp"
#include "rabbit/rabbit_case.hpp"

namespace zkrecipes::test {

// A case of what operators do with queues.

struct operators_case : letters_case<rabbit_case> {
  rabbit_queues queues() { return source(zk()); }
  source_lag lag() { return lags(group()).front(); }

  /// The record at the path, and the queue.
  void begin_to_use() {
    consume(&succeed);
    put_all({"first"});
    BOOST_TEST_REQUIRE(has_results(1));
    end_runs(all);
  }
};

}  // namespace zkrecipes::test

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(rabbit_operators, operators_case)

#include "brokers/letter_cases.hpp"

BOOST_AUTO_TEST_CASE(the_depth_is_what_waits_to_be_delivered) {
  BOOST_TEST((std::get<0>(run(queues().async_lag("consumers", tuple))) == errc::no_node));
  hold_point held(executor());
  with.prefetch = 4;
  consume([&](term, message item) -> asio::awaitable<message_outcome> {
    co_await held.pass_in_the_end();
    co_return effect_of(item);
  });
  put_all(numbers(1, 10));
  BOOST_TEST_REQUIRE(run_until([&] { return held.is_reached(); }));
  BOOST_TEST_REQUIRE(run_until([&] { return lag().messages == 6; }));
  BOOST_TEST(lag().shard == 0u);
  BOOST_TEST(lag().consumers == 1u);
  BOOST_TEST(!lag().is_missing);
  held.open();
  BOOST_TEST_REQUIRE(has_results(10));
  BOOST_TEST_REQUIRE(run_until([&] { return lag().messages == 0; }));
  end_runs(all);
  BOOST_TEST_REQUIRE(run_until([&] { return lag().consumers == 0; }));
}

BOOST_AUTO_TEST_CASE(queues_that_are_missing_are_told_with_those_that_are_there) {
  with.shards = 5;
  begin_to_use();
  for (const std::uint32_t shard : {2U, 4U}) {
    client().declare(queue(shard));
    for (std::uint32_t i = 0; i < shard; ++i) client().put({.queue = queue(shard), .data = "x"});
  }
  log->clear();
  auto told = run(rabbit_queues(connect(logging()), "/t", with).async_lag("consumers", tuple));
  const auto& [error, found] = told;
  BOOST_TEST_REQUIRE(!error, error.message());
  BOOST_TEST_REQUIRE(found.size() == 5u);
  const auto is_connection = [](const std::string& line) { return line.find("connected rabbitmq") != line.npos; };
  BOOST_TEST(std::ranges::count_if(*log, is_connection) == 1);
  for (std::uint32_t shard = 0; shard < 5; ++shard) {
    BOOST_TEST(found[shard].shard == shard);
    BOOST_TEST(found[shard].is_missing == (shard % 2 == 1), shard);
    if (shard != 0) BOOST_TEST(found[shard].messages == (shard % 2 == 0 ? shard : 0), shard);
  }
}

// It is no repeat of the message that was parked, nor of itself.
BOOST_AUTO_TEST_CASE(a_letter_that_was_revived_and_parked_again_is_revived_again) {
  auto letter = make_letter();
  for (int times = 0; times < 2; ++times) {
    BOOST_TEST_REQUIRE(!revive(letter));
    auto& who = consume([](term, const message&) -> asio::awaitable<message_outcome> {
      throw std::runtime_error("it can still not be read");
    });
    BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().parked == 1; }));
    end_runs(all);
    BOOST_TEST_REQUIRE(dead().size() == 1u);
    letter = dead().front();
    BOOST_TEST(letter.data == "poison");
  }
  BOOST_TEST_REQUIRE(!revive(letter));
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(1));
}

BOOST_AUTO_TEST_CASE(a_letter_of_a_queue_that_has_gone_stays) {
  const auto letter = make_letter();
  client().remove(queue());
  const auto error = revive(letter);
  BOOST_TEST((error == rabbit_errc::missing_queue), error.message());
  BOOST_TEST(dead().size() == 1u);
  BOOST_TEST(!client().look_at(queue()).has_value());
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused) {
  auto over = queues();
  dead_letter other;
  other.name = "letter-0000000000";
  for (const auto* item : {"", "0000", "0001/x", "x", "/x"}) {
    other.item = item;
    const auto error = std::get<0>(run(over.async_revive("consumers", other, tuple)));
    BOOST_TEST((error == errc::bad_arguments), item << ": " << error.message());
  }
  for (const auto* name : {"", "a/b"}) {
    other.name = name;
    BOOST_TEST((std::get<0>(run(over.async_discard("consumers", other, tuple))) == errc::bad_arguments), name);
  }
  for (const auto* group : {"", "others"}) {
    BOOST_TEST((std::get<0>(run(over.async_lag(group, tuple))) == errc::bad_arguments), group);
    BOOST_TEST((std::get<0>(run(over.async_dead_letters(group, tuple))) == errc::bad_arguments), group);
  }
  rabbit_queues nothing;
  BOOST_TEST((std::get<0>(run(nothing.async_lag("consumers", tuple))) == errc::closed));
  BOOST_TEST((std::get<0>(run(nothing.async_dead_letters("consumers", tuple))) == errc::closed));
}

BOOST_AUTO_TEST_CASE(while_the_broker_is_away_they_end_with_the_time_for_retries) {
  const auto letter = make_letter();
  auto hasty_options = rabbit_case::logging();
  hasty_options.retry.limit = 300ms;
  auto hasty = connect(hasty_options);
  with.hosts = "127.0.0.1:1";
  rabbit_queues over(hasty, "/t", with);
  for (const auto& told : {std::get<0>(run(over.async_lag("consumers", tuple))),
                           std::get<0>(run(over.async_revive("consumers", letter, tuple)))})
    BOOST_TEST((told == rabbit_errc::unavailable), told.message());
  BOOST_TEST(dead().size() == 1u);
  BOOST_TEST(!std::get<0>(run(over.async_discard("consumers", letter, tuple))), "needs no broker");
}

BOOST_AUTO_TEST_CASE(a_wrong_password_is_told) {
  begin_to_use();
  with.password = "open barley";
  const auto error = std::get<0>(run(rabbit_queues(connect(logging()), "/t", with).async_lag("consumers", tuple)));
  BOOST_TEST((error == rabbit_errc::refused_credentials), error.message());
  BOOST_TEST(!has_logged("barley"));
  BOOST_TEST(error.message().find("barley") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
