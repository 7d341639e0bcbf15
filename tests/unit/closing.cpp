// Closing a session with a budget.
#include <boost/asio/bind_executor.hpp>

#include <zkrecipes/zkrecipes.hpp>

#include "session/operation.hpp"
#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct closing_case : connected_session {
  void close(time_budget budget) {
    begun = now();
    zk.async_close_for(budget, left, [this](error_code error) {
      ended = error;
      took = now() - begun;
    });
    settle();
  }
  static detail::awaitable<detail::outcome<>> stay(detail::scheduler_ptr on) {
    detail::condition forever(on);
    co_await forever.wait();
    co_return detail::outcome<>(error_code());
  }

  diagnostic left;
  lease_clock::time_point begun;
  lease_clock::duration took{};
  std::optional<error_code> ended;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(closing, closing_case)

BOOST_AUTO_TEST_CASE(a_server_that_answers_ends_it_at_once) {
  close(1s);
  BOOST_TEST(last().closing);
  lose(errc::closed);
  settle();
  BOOST_TEST_REQUIRE(ended.has_value());
  BOOST_TEST(!*ended);
  BOOST_TEST(left.text().empty());
}

BOOST_AUTO_TEST_CASE(a_server_that_does_not_answer_is_named) {
  close(1s);
  advance(1s);
  BOOST_TEST_REQUIRE(ended.has_value());
  BOOST_TEST((*ended == errc::timed_out));
  BOOST_TEST((took == 1s));
  BOOST_TEST(left.text() == "127.0.0.1:1 has not confirmed the end of the session, which ends by its timeout");
}

BOOST_AUTO_TEST_CASE(an_operation_that_does_not_return_is_counted) {
  const auto on = zk.get_core()->get_scheduler();
  detail::launch(*on, detail::handler_for<void(error_code)>([](error_code) {}), stay(on), detail::persistence::endless);
  settle();
  close(1s);
  lose(errc::closed);
  advance(900ms);
  BOOST_TEST(!ended.has_value());
  advance(200ms);
  BOOST_TEST_REQUIRE(ended.has_value());
  BOOST_TEST((*ended == errc::timed_out));
  BOOST_TEST(left.text() == "1 operation has not ended: code of the program does not return");
}

BOOST_AUTO_TEST_CASE(two_do_not_wait_for_each_other) {
  diagnostic none;
  auto other = zk.async_close_for(1s, none, recorded());
  close(2s);
  lose(errc::closed);
  settle();
  BOOST_TEST_REQUIRE((ended.has_value() && other.done()));
  BOOST_TEST(!*ended);
  BOOST_TEST(!other.error());
}

BOOST_AUTO_TEST_CASE(without_a_connection_it_ends_at_once) {
  lose();
  close(1s);
  BOOST_TEST_REQUIRE(ended.has_value());
  BOOST_TEST(!*ended);
}

BOOST_AUTO_TEST_SUITE_END()
