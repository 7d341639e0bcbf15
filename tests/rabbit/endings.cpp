// What ends a consumer of a queue.
#include "rabbit/rabbit_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(rabbit_endings, rabbit_case)

BOOST_AUTO_TEST_CASE(a_run_that_waits_for_messages_can_be_stopped) {
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(run_until([&] { return has_logged("connected rabbitmq"); }));
  who.coordinator.stop();
  BOOST_TEST_REQUIRE(run_until([&] { return who.ended.done(); }, 5s));
  BOOST_TEST(!who.ended.error(), who.ended.error().message());
}

BOOST_AUTO_TEST_CASE(a_run_that_waits_for_a_broker_can_be_stopped) {
  with.hosts = "127.0.0.1:1";
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(run_until([&] { return has_logged("connect_failed rabbitmq"); }));
  who.coordinator.stop();
  BOOST_TEST_REQUIRE(run_until([&] { return who.ended.done(); }, 5s));
  BOOST_TEST(!who.ended.error(), who.ended.error().message());
}

BOOST_AUTO_TEST_CASE(a_run_that_waits_for_a_silent_broker_can_be_stopped) {
  use_proxy().freeze(true);
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(run_until([&] { return !get("/e").data.empty(); }));  // it leads
  who.coordinator.stop();
  BOOST_TEST_REQUIRE(run_until([&] { return who.ended.done(); }, 5s));
  BOOST_TEST(!who.ended.error(), who.ended.error().message());
}

BOOST_AUTO_TEST_CASE(a_run_that_is_cancelled_ends_and_what_it_had_in_hand_comes_again) {
  put_all(numbers(1, 3));
  hold_point held(executor());
  auto& who = consume([&](term, message) -> asio::awaitable<message_outcome> {
    co_await held.pass();
    co_return message_outcome::done();
  });
  BOOST_TEST_REQUIRE(run_until([&] { return held.is_reached(); }));
  who.ended.cancel(asio::cancellation_type::terminal);
  BOOST_TEST_REQUIRE(run_until([&] { return who.ended.done(); }));
  all.clear();
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(3));
  BOOST_TEST(results() == numbers(1, 3), boost::test_tools::per_element());
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

BOOST_AUTO_TEST_CASE(a_session_that_is_closed_ends_the_run) {
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(run_until([&] { return has_logged("connected rabbitmq"); }));
  BOOST_TEST(!std::get<0>(run(who.zk.async_close(tuple))));
  BOOST_TEST_REQUIRE(run_until([&] { return who.ended.done(); }));
  BOOST_TEST((who.ended.error() == errc::closed), who.ended.error().message());
  BOOST_TEST(run_until([&] { return client().look_at(queue())->consumers == 0; }));
  all.clear();
}

BOOST_AUTO_TEST_SUITE_END()
