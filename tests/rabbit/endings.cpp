// What ends a consumer of a queue.
#include "rabbit/rabbit_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(rabbit_endings, rabbit_case)

#include "brokers/ending_cases.hpp"

BOOST_AUTO_TEST_CASE(a_run_that_waits_for_a_silent_broker_can_be_stopped) {
  use_proxy().freeze(true);
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(run_until([&] { return !get("/e").data.empty(); }));  // it leads
  who.coordinator.stop();
  BOOST_TEST_REQUIRE(run_until([&] { return who.ended.done(); }, 5s));
  BOOST_TEST(!who.ended.error(), who.ended.error().message());
}

// The broker has its messages back although the object of the consumer is still there.
BOOST_AUTO_TEST_CASE(a_term_that_is_over_gives_the_messages_back) {
  options.window = 2;
  put_all(numbers(1, 20));
  hold_point held(executor());
  auto& who = consume([&](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "2") co_await held.pass_in_the_end();
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(run_until([&] { return held.is_reached(); }));
  who.coordinator.stop();
  held.open();
  BOOST_TEST_REQUIRE(run_until([&] { return who.ended.done(); }));
  BOOST_TEST(run_until([&] {
    const auto found = client().look_at(queue());
    return found && found->consumers == 0 && found->messages >= 15;
  }));
}

BOOST_AUTO_TEST_SUITE_END()
