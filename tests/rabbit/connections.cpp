// How connections to brokers are made: by one of several callers, within their limits, with names that are slow.
#include "rabbit/connection_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(rabbit_connections, connection_case)

BOOST_AUTO_TEST_CASE(two_callers_share_one_try) {
  const auto& first = call();
  const auto& second = call();
  bench.advance(500ms);
  BOOST_TEST_REQUIRE(tries() == 1u);
  accept();
  BOOST_TEST(has_succeeded(first));
  BOOST_TEST(has_succeeded(second));
  BOOST_TEST(connection->number() == 1u);
}

BOOST_AUTO_TEST_CASE(a_try_that_gets_no_answer_is_over_for_all_callers) {
  const auto& first = call();
  const auto& second = call();
  bench.advance(1'500ms);
  BOOST_TEST_REQUIRE(tries() == 2u);
  BOOST_TEST(brokers->peers[0]->is_closed);
  BOOST_TEST(!brokers->peers[1]->is_closed);
  accept();
  BOOST_TEST(has_succeeded(first));
  BOOST_TEST(has_succeeded(second));
}

BOOST_AUTO_TEST_CASE(when_the_caller_that_tries_is_cancelled_the_other_one_tries) {
  auto& first = call();
  const auto& second = call();
  cancel(first);
  BOOST_TEST_REQUIRE(first.result.has_value());
  BOOST_TEST((*first.result == asio::error::operation_aborted), first.result->message());
  BOOST_TEST(brokers->peers[0]->is_closed);
  bench.advance(500ms);
  BOOST_TEST_REQUIRE(tries() == 2u);
  accept();
  BOOST_TEST(has_succeeded(second));
}

BOOST_AUTO_TEST_CASE(a_caller_that_waits_for_another_one_can_be_cancelled) {
  const auto& first = call();
  auto& second = call();
  cancel(second);
  BOOST_TEST_REQUIRE(second.result.has_value());
  BOOST_TEST((*second.result == asio::error::operation_aborted), second.result->message());
  BOOST_TEST_REQUIRE(tries() == 1u);
  accept();
  BOOST_TEST(has_succeeded(first));
}

BOOST_AUTO_TEST_CASE(a_connection_that_is_closed_while_it_is_made_is_made_anew) {
  const auto& caller = call();
  BOOST_TEST_REQUIRE(tries() == 1u);
  connection->close();
  bench.settle();
  BOOST_TEST_REQUIRE(tries() == 2u);
  BOOST_TEST(brokers->peers[0]->is_closed);
  accept();
  BOOST_TEST(has_succeeded(caller));
}

BOOST_AUTO_TEST_CASE(no_pause_outlasts_the_limit_of_a_caller) {
  use({{"broker", 5672}}, {.first_pause = 1min, .max_pause = 1h});
  const auto& caller = call(bench.now() + 2s);
  refuse();
  bench.advance(1'999ms);
  BOOST_TEST(!caller.result.has_value());
  bench.advance(1ms);
  BOOST_TEST_REQUIRE(caller.result.has_value());
  BOOST_TEST((*caller.result == rabbit_errc::unavailable), caller.result->message());
  BOOST_TEST(tries() == 1u);
}

BOOST_AUTO_TEST_CASE(a_caller_waits_for_the_try_of_another_one_until_its_own_limit) {
  const auto& first = call();
  const auto& second = call(bench.now() + 300ms);
  bench.advance(300ms);
  BOOST_TEST_REQUIRE(second.result.has_value());
  BOOST_TEST((*second.result == rabbit_errc::unavailable), second.result->message());
  BOOST_TEST_REQUIRE(tries() == 1u);
  accept();
  BOOST_TEST(has_succeeded(first));
}

BOOST_AUTO_TEST_CASE(a_refused_password_ends_the_tries_of_the_impatient) {
  const auto& caller = call();
  refuse_login();
  BOOST_TEST_REQUIRE(caller.result.has_value());
  BOOST_TEST((*caller.result == rabbit_errc::refused_credentials), caller.result->message());
}

BOOST_AUTO_TEST_CASE(a_consumer_waits_until_its_password_is_taken_again) {
  use({{"broker", 5672}}, {.first_pause = 10ms, .max_pause = 20ms}, detail::broker_connection::retries::with_refusals);
  const auto& caller = call();
  for (std::size_t refusals = 1; refusals <= 3; ++refusals) {
    BOOST_TEST_REQUIRE(tries() == refusals);
    refuse_login();
    BOOST_TEST(!caller.result.has_value());
    bench.advance(50ms);
  }
  BOOST_TEST(count_told("authentication_failed rabbitmq") == 1);
  BOOST_TEST_REQUIRE(tries() == 4u);
  accept();
  BOOST_TEST(has_succeeded(caller));
}

BOOST_AUTO_TEST_CASE(a_name_that_is_not_resolved_in_time_is_asked_for_once_and_told) {
  brokers->is_resolver_slow = true;
  const auto& caller = call();
  bench.advance(10s);
  BOOST_TEST_REQUIRE(brokers->lookups.size() == 1u);
  BOOST_TEST(count_told("rabbitmq broker:5672") == 1);
  BOOST_TEST(count_told("the name was not resolved within 1000 ms") == 1);
  brokers->lookups[0]({{{"broker", 5672}, {{"10.0.0.1", 5672}}}});
  bench.advance(50ms);
  BOOST_TEST_REQUIRE(tries() == 1u);
  accept();
  BOOST_TEST(has_succeeded(caller));
  BOOST_TEST(count_told("connected rabbitmq 10.0.0.1:5672") == 1);
}

BOOST_AUTO_TEST_CASE(names_that_were_resolved_are_asked_for_again_by_the_next_try) {
  use({{"one", 5672}, {"two", 5672}}, {.first_pause = 10ms, .max_pause = 20ms});
  brokers->is_resolver_slow = true;
  const auto& caller = call();
  bench.advance(1'100ms);
  BOOST_TEST(count_told("rabbitmq one:5672,two:5672") == 1);
  BOOST_TEST(count_told("the names were not resolved within 1000 ms") == 1);
  brokers->lookups.back()(
      {{{"one", 5672}, {}, boost::asio::error::host_not_found}, {{"two", 5672}, {{"10.0.0.2", 5672}}}});
  bench.settle();
  BOOST_TEST(count_told("the name has no address: Host not found") == 1);
  BOOST_TEST_REQUIRE(tries() == 1u);
  refuse();
  bench.advance(50ms);
  BOOST_TEST_REQUIRE(brokers->lookups.size() == 2u);
  brokers->lookups.back()({{{"one", 5672}, {{"10.0.0.1", 5672}}}, {{"two", 5672}, {}}});
  bench.settle();
  BOOST_TEST_REQUIRE(tries() == 2u);
  accept();
  BOOST_TEST(has_succeeded(caller));
  BOOST_TEST(count_told("connected rabbitmq 10.0.0.1:5672") == 1);
}

BOOST_AUTO_TEST_SUITE_END()
