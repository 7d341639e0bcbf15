// Messages that are delivered again: their acknowledgements were lost, their ids are repeated, or they have none.
#include "rabbit/rabbit_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct lost_acknowledgements : rabbit_case {
  lost_acknowledgements() : between(&use_proxy()) { client().declare(queue()); }

  /// What the consumer says to the broker is lost from now on.
  void begin_loss() {
    lost_before = between->lost_bytes();
    between->blackhole(testcluster::proxy::way::to_server);
  }
  /// Its connection is closed, because it has lost something. The broker sends everything that is not acknowledged, and
  /// new messages behind it.
  void end_loss() {
    BOOST_TEST_REQUIRE(run_until([&] { return between->lost_bytes() > lost_before; }));
    between->heal();
  }
  void put(const std::string& id, const std::string& data) { client().put({.queue = queue(), .data = data, .id = id}); }
  testcluster::proxy* between;
  std::size_t lost_before = 0;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(rabbit_acknowledgements, lost_acknowledgements)

BOOST_AUTO_TEST_CASE(what_is_settled_is_not_processed_again_if_its_acknowledgement_is_lost) {
  auto& who = consume(&succeed);
  for (int round = 0; round < 3; ++round) {
    put_all(numbers(100 * round + 1, 100 * round + 50));
    BOOST_TEST_REQUIRE(has_results(static_cast<std::size_t>(100 * round + 50)));
    begin_loss();
    put_all(numbers(100 * round + 51, 100 * round + 100));
    BOOST_TEST_REQUIRE(has_results(static_cast<std::size_t>(100 * round + 100)));
    end_loss();
  }
  put_all({"301"});
  BOOST_TEST_REQUIRE(has_results(301));
  BOOST_TEST(results() == numbers(1, 301), boost::test_tools::per_element());
  for (const auto& each : numbers(1, 301)) BOOST_TEST(who.does.attempts[each].size() == 1u, each);
  BOOST_TEST(has_logged("connection_lost rabbitmq"));
  end_when_all_is_acknowledged();
}

BOOST_AUTO_TEST_CASE(the_next_consumer_does_not_process_it_again_either) {
  consume(&succeed);
  put_all(numbers(1, 10));
  BOOST_TEST_REQUIRE(has_results(10));
  begin_loss();
  put_all(numbers(11, 30));
  BOOST_TEST_REQUIRE(has_results(30));
  end_runs(all);
  end_loss();
  auto& next = consume(&succeed);
  put_all({"31"});
  BOOST_TEST_REQUIRE(has_results(31));
  BOOST_TEST(results() == numbers(1, 31), boost::test_tools::per_element());
  BOOST_TEST(next.does.attempts.size() == 1u);
  end_when_all_is_acknowledged();
}

BOOST_AUTO_TEST_CASE(connections_that_are_cut_again_and_again_change_nothing) {
  consume(&succeed);
  for (int i = 0; i < 20; ++i) {
    put_all(numbers(20 * i + 1, 20 * i + 20));
    BOOST_TEST_REQUIRE(has_results(static_cast<std::size_t>(20 * i + i)));
    between->cut();
  }
  BOOST_TEST_REQUIRE(has_results(400));
  BOOST_TEST(results() == numbers(1, 400), boost::test_tools::per_element());
  end_when_all_is_acknowledged();
}

BOOST_AUTO_TEST_CASE(what_is_in_hand_when_the_connection_ends_is_processed_once) {
  put_all(numbers(1, 10));
  hold_point held(executor());
  auto& who = consume([&](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "4") co_await held.pass_in_the_end();
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(run_until([&] { return held.is_reached(); }));
  between->cut();
  BOOST_TEST_REQUIRE(run_until([&] { return has_logged("connection_lost rabbitmq"); }));
  held.open();
  BOOST_TEST_REQUIRE(has_results(10));
  BOOST_TEST(results() == numbers(1, 10), boost::test_tools::per_element());
  BOOST_TEST(who.does.attempts["1"].size() == 1u);
  end_when_all_is_acknowledged();
}

// The acknowledgements of the first three are lost, and nothing tells that they were done.
BOOST_AUTO_TEST_CASE(a_message_without_an_id_is_processed_at_least_once) {
  consume(&succeed);
  put("", "0");
  BOOST_TEST_REQUIRE(has_results(1));
  begin_loss();
  for (const auto* each : {"1", "2", "3"}) put("", each);
  BOOST_TEST_REQUIRE(has_results(4));
  end_loss();
  put("", "4");
  const auto is_last_done = [&] {
    const auto seen = results();
    return seen.size() >= 8 && seen.back() == "4";
  };
  BOOST_TEST_REQUIRE(run_until(is_last_done));
  auto seen = results();
  const bool is_first_repeated = seen.size() == 9;  // its acknowledgement may have been lost, too
  if (is_first_repeated) seen.erase(seen.begin() + 4);
  BOOST_TEST(seen == std::vector<std::string>({"0", "1", "2", "3", "1", "2", "3", "4"}),
             boost::test_tools::per_element());
  end_when_all_is_acknowledged();
}

BOOST_AUTO_TEST_CASE(what_has_no_id_and_is_in_hand_when_the_connection_ends_comes_again) {
  for (const auto* each : {"1", "2", "3"}) put("", each);
  hold_point held(executor());
  consume([&](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "2") co_await held.pass_in_the_end();
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(run_until([&] { return held.is_reached(); }));
  BOOST_TEST_REQUIRE(has_results(1));
  between->cut();
  BOOST_TEST_REQUIRE(run_until([&] { return has_logged("connection_lost rabbitmq"); }));
  held.open();
  put("", "4");
  BOOST_TEST_REQUIRE(run_until([&] {
    const auto seen = results();
    return !seen.empty() && seen.back() == "4";
  }));
  auto seen = results();
  if (seen.size() == 5) seen.erase(seen.begin() + 1);  // "1", whose acknowledgement may have been lost
  BOOST_TEST(seen == numbers(1, 4), boost::test_tools::per_element());
  end_when_all_is_acknowledged();
}

BOOST_AUTO_TEST_CASE(a_second_message_of_an_id_that_is_in_hand_is_the_same_message) {
  hold_point held(executor());
  consume([&](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "1") co_await held.pass_in_the_end();
    co_return effect_of(item);
  });
  put("x", "1");
  put("x", "other data");
  put("y", "2");
  BOOST_TEST_REQUIRE(run_until([&] { return held.is_reached() && client().depth(queue()) == 0; }));
  held.open();
  BOOST_TEST_REQUIRE(has_results(2));
  BOOST_TEST(results() == numbers(1, 2), boost::test_tools::per_element());
  end_when_all_is_acknowledged();
}

BOOST_AUTO_TEST_CASE(a_second_message_of_an_id_that_is_settled_is_acknowledged_unprocessed) {
  consume(&succeed);
  put("x", "1");
  BOOST_TEST_REQUIRE(has_results(1));
  put("x", "other data");
  put("y", "2");
  BOOST_TEST_REQUIRE(has_results(2));
  BOOST_TEST(results() == numbers(1, 2), boost::test_tools::per_element());
  end_when_all_is_acknowledged();
}

// Those of other clients are forgotten when the broker has the acknowledgement; those of our producers never are.
BOOST_AUTO_TEST_CASE(the_ids_of_producers_are_known_for_ever) {
  with.prefetch = 2;
  consume(&succeed);
  const auto id = [](const std::string& number) { return "zkr:p:7:" + number; };
  for (const auto& each : numbers(1, 100)) put(id(each), each);
  BOOST_TEST_REQUIRE(has_results(100));
  for (const auto& each : numbers(1, 100)) put(id(each), each);
  put("zkr:p:8:1", "101");
  put("zkr:q:7:1", "102");
  BOOST_TEST_REQUIRE(has_results(102));
  end_runs(all);
  BOOST_TEST(memory().size() < 500u, memory());
  for (const auto& each : numbers(1, 100)) put(id(each), each);
  put(id("101"), "103");
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(103));
  BOOST_TEST(results() == numbers(1, 103), boost::test_tools::per_element());
  end_when_all_is_acknowledged();
}

BOOST_AUTO_TEST_CASE(the_ids_of_others_are_forgotten_when_the_broker_has_their_acknowledgements) {
  with.prefetch = 10;
  put_all(numbers(1, 400));
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(400));
  put_all(numbers(401, 420));  // each batch forgets what the broker has meanwhile
  BOOST_TEST_REQUIRE(has_results(420));
  BOOST_TEST(memory().size() < 1'000u, memory());
  BOOST_TEST(results() == numbers(1, 420), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
