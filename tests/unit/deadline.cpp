// A budget of time over several steps of one operation.
#include "session/deadline.hpp"

#include <optional>

#include <boost/test/unit_test.hpp>

#include "support/fake_world.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;
using namespace zkrecipes::test;
using namespace std::chrono_literals;

namespace {

struct budget_case : fake_bench {
  struct steps {
    asio::cancellation_signal cancel;
    condition* never_notified = nullptr;
    std::optional<error_code> first, second;
  };

  static awaitable<outcome<>> done_just_as_it_is_cancelled(steps& all) {
    all.cancel.emit(asio::cancellation_type::total);
    co_return outcome<>(error_code());
  }
  static awaitable<outcome<>> wait(steps& all) {
    auto why = co_await all.never_notified->wait();
    co_return outcome<>(why == wake::cancelled ? make_error_code(asio::error::operation_aborted) : error_code());
  }
  static awaitable<void> both(scheduler_ptr on, steps& all, bool cancelling) {
    co_await accept_cancellation();
    const auto deadline = on->deadline_of(10s);
    if (cancelling) {
      auto body = done_just_as_it_is_cancelled(all);
      auto result = co_await with_deadline(on, deadline, std::move(body));
      all.first = std::get<0>(result);
    }
    auto body = wait(all);
    auto result = co_await with_deadline(on, deadline, std::move(body));
    all.second = std::get<0>(result);
  }
  void start(bool cancelling) {
    all.never_notified = &*never_notified;
    asio::co_spawn(scheduler->strand, both(scheduler, all, cancelling),
                   asio::bind_cancellation_slot(all.cancel.slot(), [](std::exception_ptr) {}));
    settle();
  }

  scheduler_ptr scheduler = make_scheduler();
  std::optional<condition> never_notified{std::in_place, scheduler};
  steps all;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(deadlines, budget_case)

BOOST_AUTO_TEST_CASE(the_budget_ends_a_step_that_waits) {
  start(false);
  advance(10s - 1ns);
  BOOST_TEST(!all.second);
  advance(1ns);
  BOOST_TEST_REQUIRE(all.second.has_value());
  BOOST_TEST((*all.second == errc::timed_out));
}

BOOST_AUTO_TEST_CASE(a_budget_that_is_too_long_has_no_end) {
  BOOST_TEST((end_of(lease_clock::duration::max(), now()) == never));
  BOOST_TEST((end_of(std::chrono::hours::max(), now()) == never));
  BOOST_TEST((end_of(never - now(), now()) == never));
  BOOST_TEST((end_of(1ns, now()) == now() + 1ns));
  BOOST_TEST((end_of(0ns, now()) == now()));
  BOOST_TEST((end_of(lease_clock::duration::min(), now()) == now()));
}

BOOST_AUTO_TEST_CASE(a_cancellation_ends_it_as_such) {
  start(false);
  all.cancel.emit(asio::cancellation_type::total);
  settle();
  BOOST_TEST_REQUIRE(all.second.has_value());
  BOOST_TEST((*all.second == asio::error::operation_aborted));
}

BOOST_AUTO_TEST_CASE(one_that_comes_between_two_steps_is_heard_by_the_second) {
  start(true);
  BOOST_TEST_REQUIRE(all.first.has_value());
  BOOST_TEST(!*all.first, "it was done before it heard");
  BOOST_TEST_REQUIRE(all.second.has_value(), "or it would wait for the whole budget");
  BOOST_TEST((*all.second == asio::error::operation_aborted));
}

BOOST_AUTO_TEST_SUITE_END()
