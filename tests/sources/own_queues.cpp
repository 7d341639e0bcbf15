// A queue of one's own: what the common cases do not ask of it.
#include "sources/own_source_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// One message has come again, and was acknowledged again.
bool is_acknowledged_twice(const queue_in_memory& kept, const std::string& id) {
  const auto found = kept.acknowledged.find(id);
  return found != kept.acknowledged.end() && found->second == 2;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(own_queues, own_source_case)

BOOST_AUTO_TEST_CASE(a_message_that_comes_again_is_acknowledged_unprocessed) {
  queue->lost = 1;
  put_into_queue({"1"});
  auto& who = consume_queue(&succeed);
  BOOST_TEST_REQUIRE(run_until([&] { return queue->acknowledged["id 1"] == 1; }));
  who.coordinator.resign();  // the next term gets it again
  BOOST_TEST_REQUIRE(run_until([&] { return is_acknowledged_twice(*queue, "id 1"); }));
  put_into_queue({"2"});
  BOOST_TEST_REQUIRE(has_results(2));
  BOOST_TEST_REQUIRE(run_until([&] { return queue->all.empty(); }));
  BOOST_TEST(results() == numbers(1, 2), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_acknowledgement_that_fails_opens_the_queue_again) {
  queue->faults.errors["acknowledge"] = {asio::error::connection_reset};
  put_into_queue(numbers(1, 3));
  consume_queue(&succeed);
  BOOST_TEST_REQUIRE(has_results(3));
  BOOST_TEST_REQUIRE(run_until([&] { return queue->all.empty(); }));
  BOOST_TEST(queue->opened == 2);
  BOOST_TEST(count_told("connection_lost queue of our own") == 1u);
  BOOST_TEST(results() == numbers(1, 3), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_comes_again_while_it_is_in_hand_is_processed_once) {
  queue->times = 5;
  options.parallel = 4;
  options.order = message_order::none;
  put_into_queue(numbers(1, 3));
  hold_point held(executor());
  consume_queue([&](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "2") co_await held.pass_in_the_end();
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(run_until([&] { return held.is_reached() && queue->changed.waiting() == 1; }));
  held.open();
  BOOST_TEST_REQUIRE(run_until([&] { return queue->all.empty(); }));
  BOOST_TEST(results().size() == 3u);
}

BOOST_AUTO_TEST_CASE(what_comes_again_while_it_is_in_hand_is_acknowledged_as_often) {
  queue->times = 3;
  put_into_queue({"1"});
  hold_point held(executor());
  consume_queue([&](term, message item) -> asio::awaitable<message_outcome> {
    co_await held.pass_in_the_end();
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(run_until([&] { return held.is_reached() && queue->changed.waiting() == 1; }));
  held.open();
  BOOST_TEST_REQUIRE(run_until([&] { return queue->all.empty(); }));
  BOOST_TEST(queue->acknowledged["id 1"] == 3);
  BOOST_TEST(results() == numbers(1, 1), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_comes_again_because_the_queue_was_opened_anew_is_acknowledged_once) {
  put_into_queue({"1"});
  hold_point held(executor());
  consume_queue([&](term, message item) -> asio::awaitable<message_outcome> {
    co_await held.pass_in_the_end();
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(run_until([&] { return held.is_reached() && queue->changed.waiting() == 1; }));
  queue->faults.errors["receive"] = {asio::error::connection_reset};
  queue->changed.notify();
  BOOST_TEST_REQUIRE(run_until([&] { return queue->opened == 2 && queue->changed.waiting() == 1; }));
  held.open();
  BOOST_TEST_REQUIRE(run_until([&] { return queue->all.empty(); }));
  BOOST_TEST(queue->acknowledged["id 1"] == 1);
  BOOST_TEST(results() == numbers(1, 1), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_id_that_was_forgotten_is_processed_again) {
  with.in_hand = with.remembered = 2;
  queue->lost = 1;
  put_into_queue({"1"});
  auto& who = consume_queue(&succeed);
  BOOST_TEST_REQUIRE(run_until([&] { return queue->acknowledged["id 1"] == 1; }));
  put_into_queue(numbers(2, 4));
  BOOST_TEST_REQUIRE(run_until([&] { return queue->acknowledged["id 4"] == 1; }));
  who.coordinator.resign();
  BOOST_TEST_REQUIRE(run_until([&] { return queue->all.empty(); }));
  BOOST_TEST(results() == std::vector<std::string>({"1", "2", "3", "4", "1"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_id_that_can_not_come_again_is_not_remembered) {
  queue->is_final = true;
  put_into_queue(numbers(1, 2));
  consume_queue(&succeed);
  BOOST_TEST_REQUIRE(run_until([&] { return queue->all.empty() && queue->forgotten.empty(); }));
  put_into_queue({"3"});
  BOOST_TEST_REQUIRE(has_results(3));
  const auto memory = position("consumers");
  BOOST_TEST(memory.find("id 1") == std::string::npos, memory);
  BOOST_TEST(memory.find("id 2") == std::string::npos, memory);
  BOOST_TEST(memory.find("id 3") != std::string::npos, memory);
}

// A table is read, the row is removed meanwhile, and then the answer of the read comes.
BOOST_AUTO_TEST_CASE(what_was_read_before_it_could_not_come_again_is_processed_once) {
  queue->is_final = true;
  queue->times = 2;
  queue->most = 1;
  hold_point second(executor());
  int reads = 0;
  queue->read = [&]() -> asio::awaitable<void> {
    if (++reads == 2) co_await second.pass_in_the_end();
  };
  hold_point held(executor());
  put_into_queue({"1"});
  consume_queue([&](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "1") co_await held.pass_in_the_end();
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(run_until([&] { return held.is_reached() && second.is_reached(); }));
  held.open();
  BOOST_TEST_REQUIRE(run_until([&] { return queue->all.empty() && queue->forgotten.empty(); }));
  second.open();
  put_into_queue({"2"});
  BOOST_TEST_REQUIRE(has_results(2));
  BOOST_TEST_REQUIRE(run_until([&] { return queue->all.empty(); }));
  BOOST_TEST(results() == numbers(1, 2), boost::test_tools::per_element());
  BOOST_TEST(queue->acknowledged["id 1"] == 2);
  queue->read = nullptr;
}

BOOST_AUTO_TEST_CASE(a_memory_that_is_removed_lets_what_comes_again_be_processed_again) {
  queue->lost = 1;
  put_into_queue({"1"});
  consume_queue(&succeed);
  BOOST_TEST_REQUIRE(run_until([&] { return queue->acknowledged["id 1"] == 1 && queue->changed.waiting() == 1; }));
  remove("/q/0000/_at/consumers");
  BOOST_TEST_REQUIRE(run_until([&] { return queue->all.empty(); }));
  BOOST_TEST(results() == std::vector<std::string>({"1", "1"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_exception_ends_the_run) {
  put_into_queue({"1"});
  for (const auto* function : {"open", "receive", "acknowledge"}) {
    queue->faults.exceptions = {{function, "it is broken"}};
    auto& who = consume_queue(&succeed);
    BOOST_TEST_REQUIRE(has_failed(who), function);
    BOOST_TEST(who.words().find("queue of our own, shard 0000, group consumers: ") == 0u, who.words());
    BOOST_TEST(who.words().find("it is broken") != std::string::npos, who.words());
    all.clear();
  }
  queue->faults.exceptions.clear();
  consume_queue(&succeed);
  BOOST_TEST_REQUIRE(run_until([&] { return queue->all.empty(); }));
  BOOST_TEST(results() == numbers(1, 1), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_is_settled_at_the_end_of_a_term_is_still_acknowledged) {
  put_into_queue({"1"});
  hold_point held(executor());
  auto& who = consume_queue([&](term, message item) -> asio::awaitable<message_outcome> {
    co_await held.pass_in_the_end();
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(run_until([&] { return held.is_reached(); }));
  who.coordinator.stop();
  held.open();
  BOOST_TEST_REQUIRE(run_until([&] { return who.ended.done(); }));
  BOOST_TEST(queue->all.empty());
  BOOST_TEST(results() == numbers(1, 1), boost::test_tools::per_element());
  BOOST_TEST(queue->closed == queue->opened);
}

BOOST_AUTO_TEST_SUITE_END()
