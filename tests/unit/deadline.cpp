// A budget of time over several steps of one operation.
#include <cmath>
#include <future>
#include <limits>
#include <optional>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <zkrecipes/election.hpp>
#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/queue.hpp>
#include <zkrecipes/semaphore.hpp>
#include <zkrecipes/zkrecipes.hpp>

#include "session/operation.hpp"
#include "support/fake_world.hpp"
#include "unit/fake_session.hpp"

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

// Operations with a budget of time end when it is over, whatever they wait for.
namespace {

struct with_budget : connected_session {
  /// The servers do not answer. Begins the operation with a budget of a second, and lets that pass.
  template <class Result, class Begin>
  void check(Begin begin) {
    auto ended = record<Result>();
    begin(ended.token());
    settle();
    BOOST_TEST(!last().pending.empty());
    advance(999ms);
    BOOST_TEST(!ended.done());
    advance(1ms);
    BOOST_TEST_REQUIRE(ended_with(ended, errc::timed_out));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(budgets, with_budget)

BOOST_AUTO_TEST_CASE(a_campaign) {
  election one(zk, "/e", {.id = "a"});
  check<ownership>([&](auto token) { one.async_campaign_for(1s, token); });
}

BOOST_AUTO_TEST_CASE(a_permit) {
  semaphore one(zk, "/s", 1);
  check<ownership>([&](auto token) { one.async_acquire_for(1s, token); });
}

BOOST_AUTO_TEST_CASE(taking_an_item) {
  queue from(zk, "/q");
  check<message>([&](auto token) { from.async_take_for(1s, token); });
}

BOOST_AUTO_TEST_CASE(taking_several_items) {
  queue from(zk, "/q");
  check<std::vector<message>>([&](auto token) { from.async_take_many_for(2, 1s, token); });
}

BOOST_AUTO_TEST_CASE(popping_an_item) {
  queue from(zk, "/q");
  check<message>([&](auto token) { from.async_pop_for(1s, token); });
}

BOOST_AUTO_TEST_SUITE_END()

// A time limit around any operation.
namespace {

struct with_limits : connected_session {
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

// Conversion of durations between units.
namespace {

using nanoseconds = std::chrono::nanoseconds;
using milliseconds = std::chrono::milliseconds;

template <class Unit, class Given>
bool is(Given given, Unit expected) {
  return Unit(time_span<Unit>(given)) == expected;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(time_spans)

BOOST_AUTO_TEST_CASE(what_fits_is_kept) {
  BOOST_TEST(is<nanoseconds>(5ms, 5'000'000ns));
  BOOST_TEST(is<nanoseconds>(-1h, -3600s));
  BOOST_TEST(is<milliseconds>(1500us, 1ms));
  BOOST_TEST(is<nanoseconds>(std::chrono::duration<double>(0.5), 500ms));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_becomes_the_bound) {
  BOOST_TEST(is<nanoseconds>(milliseconds::max(), nanoseconds::max()));
  BOOST_TEST(is<nanoseconds>(std::chrono::hours::max(), nanoseconds::max()));
  BOOST_TEST(is<nanoseconds>(std::chrono::years(1000), nanoseconds::max()));
  BOOST_TEST(is<nanoseconds>(nanoseconds::max(), nanoseconds::max()));
  BOOST_TEST(is<nanoseconds>(std::chrono::seconds::min(), nanoseconds::min()));
  BOOST_TEST(is<milliseconds>(std::chrono::hours::max(), milliseconds::max()));
  BOOST_TEST(is<nanoseconds>(std::chrono::duration<double>(1e300), nanoseconds::max()));
  BOOST_TEST(is<nanoseconds>(std::chrono::duration<double>(-INFINITY), nanoseconds::min()));
  BOOST_TEST(is<nanoseconds>(std::chrono::duration<double>(NAN), 0ns));
}

BOOST_AUTO_TEST_SUITE_END()
