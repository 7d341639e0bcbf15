// A time limit around any operation.
#include <future>
#include <optional>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <zkrecipes/zkrecipes.hpp>

#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace std::chrono_literals;

namespace {

struct with_limits : fake_session {
  with_limits() { connect(); }

  /// Runs what is ready until the time of this machine has brought it about.
  template <class Condition>
  bool until(Condition done) {
    const auto time_limit = std::chrono::steady_clock::now() + 60s;
    while (!done() && std::chrono::steady_clock::now() < time_limit) settle();
    return done();
  }
  auto note(std::optional<error_code>& into) {
    return asio::bind_executor(io().get_executor(), [&into](error_code error, auto&&...) { into = error; });
  }
};

static_assert(token_for<within_token<asio::deferred_t>, node_data>);
static_assert(token_for<within_token<asio::use_awaitable_t<>>>);

}  // namespace

BOOST_FIXTURE_TEST_SUITE(limits_of_time, with_limits)

BOOST_AUTO_TEST_CASE(what_is_late_ends_with_timed_out) {
  std::optional<error_code> ended;
  zk.async_get("/a", within(1ms, note(ended)));
  BOOST_TEST(until([&] { return ended.has_value(); }));
  BOOST_TEST((ended == errc::timed_out));
}

BOOST_AUTO_TEST_CASE(what_is_in_time_ends_as_it_would) {
  std::optional<error_code> ended;
  zk.async_get("/a", within(1h, note(ended)));
  settle();
  fail(errc::no_node);
  BOOST_TEST(until([&] { return ended.has_value(); }));
  BOOST_TEST((ended == errc::no_node));
}

BOOST_AUTO_TEST_CASE(no_limit_is_none) {
  std::optional<error_code> ended;
  zk.async_get("/a", within(std::chrono::hours::max(), note(ended)));
  settle();
  answer();
  BOOST_TEST(until([&] { return ended.has_value(); }));
  BOOST_TEST(!*ended);
}

BOOST_AUTO_TEST_CASE(a_cancellation_of_the_caller_stays_one) {
  std::optional<error_code> ended;
  asio::cancellation_signal signal;
  zk.async_get("/a", within(1h, asio::bind_cancellation_slot(signal.slot(), note(ended))));
  settle();
  signal.emit(asio::cancellation_type::terminal);
  BOOST_TEST(until([&] { return ended.has_value(); }));
  BOOST_TEST((ended == asio::error::operation_aborted));
}

BOOST_AUTO_TEST_CASE(an_operation_that_waits_leaves_nothing_behind) {
  std::optional<error_code> ended;
  session idle(io(), {.hosts = "127.0.0.1:1"});
  lock(idle, "/lock").async_acquire(within(1ms, note(ended)));
  BOOST_TEST(until([&] { return ended.has_value(); }));
  BOOST_TEST((ended == errc::timed_out));
}

BOOST_AUTO_TEST_CASE(a_coroutine_awaits_it) {
  auto late = asio::co_spawn(
      io(),
      [](session over) -> asio::awaitable<error_code> {
        auto [error, found] = co_await over.async_get("/a", within(1ms, asio::as_tuple(asio::use_awaitable)));
        if (error != errc::timed_out) co_return error;
        try {
          co_await over.async_get("/a", within(1ms));
        } catch (const boost::system::system_error& thrown) {
          co_return thrown.code();
        }
        co_return error_code();
      }(zk),
      asio::use_future);
  BOOST_TEST(until([&] { return late.wait_for(0s) == std::future_status::ready; }));
  BOOST_TEST((late.get() == errc::timed_out));
}

BOOST_AUTO_TEST_CASE(a_handler_without_an_executor_is_given_one_for_the_timer) {
  std::optional<error_code> ended;
  zk.async_get("/a", within(io().get_executor(), 1ms, [&](error_code error, node_data) { ended = error; }));
  BOOST_TEST(until([&] { return ended.has_value(); }));
  BOOST_TEST((ended == errc::timed_out));
}

BOOST_AUTO_TEST_SUITE_END()
