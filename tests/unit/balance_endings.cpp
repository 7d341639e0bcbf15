// The moves of a balance: cancelled, of objects that have gone, in a context that ends, with every completion token.
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include "unit/balance_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// A fast track at the limit, and a slow one.
struct at_the_limit : balance_case {
  at_the_limit() { steps_until_blocked(fast, 4); }

  balance pace = make(4);
  balance_track fast = pace.track("fast");
  balance_track slow = pace.track("slow");
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(balance_endings, at_the_limit)

BOOST_AUTO_TEST_CASE(a_move_that_is_cancelled_makes_no_step) {
  for (const auto type : {asio::cancellation_type::terminal, asio::cancellation_type::partial,
                          asio::cancellation_type::total, asio::cancellation_type::all}) {
    auto& waits = move(fast);
    settle();
    waits.cancel(asio::cancellation_type::none);
    settle();
    BOOST_TEST(!waits.done());
    waits.cancel(type);
    BOOST_TEST(!waits.done(), "not inside the call");
    settle();
    BOOST_TEST_REQUIRE(waits.calls() == 1);
    BOOST_TEST((waits.error() == asio::error::operation_aborted));
  }
  BOOST_TEST(slow.try_move());
  BOOST_TEST(fast.steps() == 4u);
  BOOST_TEST(fast.try_move());
}

BOOST_AUTO_TEST_CASE(only_the_move_that_is_cancelled_ends) {
  auto& first = move(fast);
  auto& second = move(fast);
  auto& third = move(fast);
  second.cancel();
  BOOST_TEST(slow.try_move());
  settle();
  BOOST_TEST((first.done() && second.done() && !third.done()));
  BOOST_TEST(!first.error());
  BOOST_TEST(slow.try_move());
  settle();
  BOOST_TEST(!third.error());
  BOOST_TEST(fast.steps() == 6u);
}

BOOST_AUTO_TEST_CASE(a_cancellation_comes_too_late_once_the_step_is_made) {
  auto& waits = move(fast);
  BOOST_TEST(slow.try_move());
  waits.cancel();
  settle();
  waits.cancel();
  settle();
  BOOST_TEST_REQUIRE(waits.calls() == 1);
  BOOST_TEST(!waits.error());
  auto& left = move(fast);
  fast.leave();
  left.cancel();
  settle();
  BOOST_TEST_REQUIRE(left.calls() == 1);
  BOOST_TEST((left.error() == errc::closed));
}

BOOST_AUTO_TEST_CASE(a_slot_may_be_used_when_all_has_gone) {
  auto& waits = move(fast);
  fast = balance_track();
  slow = balance_track();
  pace = balance();
  settle();
  waits.cancel();
  settle();
  BOOST_TEST_REQUIRE(waits.calls() == 1);
  BOOST_TEST((waits.error() == errc::closed));
}

BOOST_AUTO_TEST_CASE(tracks_live_on_without_the_balance) {
  pace = balance();
  auto& waits = move(fast);
  BOOST_TEST(slow.try_move());
  settle();
  BOOST_TEST(waits.done());
}

BOOST_AUTO_TEST_CASE(a_handler_may_move_leave_and_destroy) {
  auto mine = std::make_unique<balance_track>(std::move(fast));
  int made = 0;
  mine->async_move([&](error_code error) {
    made += !error;
    mine->async_move([&](error_code second) {
      made += !second;
      mine.reset();
      slow.leave();
    });
  });
  for (int i = 0; i < 2; ++i) {
    BOOST_TEST(slow.try_move());
    settle();
  }
  BOOST_TEST(made == 2);
  BOOST_TEST(!mine);
  BOOST_TEST(pace.status().tracks.empty());
}

BOOST_AUTO_TEST_CASE(an_operation_that_begins_late_is_one_of_its_track) {
  auto later = fast.async_move();
  auto too_late = fast.async_move();
  BOOST_TEST(slow.try_move());
  error_code first, second;
  std::move(later)([&](error_code error) { first = error; });
  settle();
  BOOST_TEST(!first);
  BOOST_TEST(fast.steps() == 5u);
  fast = balance_track();
  std::move(too_late)([&](error_code error) { second = error; });
  settle();
  BOOST_TEST((second == errc::closed));
}

BOOST_AUTO_TEST_CASE(with_a_future_and_with_a_coroutine) {
  auto future = fast.async_move(asio::use_future);
  BOOST_TEST(slow.try_move());
  settle();
  BOOST_TEST_REQUIRE((future.wait_for(0s) == std::future_status::ready));
  BOOST_CHECK_NO_THROW(future.get());
  const auto body = [this]() -> asio::awaitable<int> {
    for (int i = 0; i < 3; ++i) co_await slow.async_move(asio::use_awaitable);
    for (int i = 0; i < 3; ++i) co_await fast.async_move();
    co_return 6;
  };
  BOOST_TEST(run_coroutine(*io, body()) == 6);
  fast.leave();
  auto refused = fast.async_move(asio::use_future);
  settle();
  BOOST_CHECK_THROW(refused.get(), boost::system::system_error);
}

BOOST_AUTO_TEST_CASE(a_handler_runs_on_its_executor_and_its_wait_keeps_both_contexts_running) {
  asio::thread_pool other(1);
  std::promise<bool> ran;
  fast.async_move(asio::bind_executor(
      other, [&](error_code error) { ran.set_value(!error && other.get_executor().running_in_this_thread()); }));
  settle();
  BOOST_TEST(!io->stopped());
  BOOST_TEST(slow.try_move());
  settle();
  auto told = ran.get_future();
  BOOST_TEST_REQUIRE((told.wait_for(time_limit) == std::future_status::ready));
  BOOST_TEST(told.get());
  settle();
  BOOST_TEST(io->stopped());
  other.join();
}

namespace {

/// Owns the track that it waits for, as a worker does.
asio::awaitable<void> work(balance_track mine, std::shared_ptr<int> cargo) {
  for (;;) {
    co_await mine.async_move();
    ++*cargo;
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_context_that_ends_takes_its_waiters_along) {
  auto cargo = std::make_shared<int>(0);
  auto late = std::make_shared<int>(0);
  asio::co_spawn(*io, work(std::move(fast), cargo), asio::detached);
  asio::co_spawn(*io, work(pace.track("another"), cargo), asio::detached);
  settle();
  BOOST_TEST(*cargo == 4);
  BOOST_TEST(cargo.use_count() == 3);
  move(slow);  // its handler has not been called yet
  asio::co_spawn(*io, work(pace.track("not yet begun"), late), asio::detached);
  started.clear();
  slow = balance_track();
  pace = balance();
  io.reset();
  BOOST_TEST(cargo.use_count() == 1, "a waiter leaked");
  BOOST_TEST(late.use_count() == 1, "a coroutine leaked");
  BOOST_TEST(*late == 0);
}

BOOST_AUTO_TEST_CASE(tracks_may_outlive_the_context_when_nothing_waits) {
  auto& waits = move(fast);
  io.reset();
  BOOST_TEST(!waits.done());
  BOOST_TEST(slow.try_move());
  BOOST_TEST(pace.status().tracks.size() == 2u);
}

BOOST_AUTO_TEST_CASE(of_nothing) {
  balance none;
  BOOST_TEST(none.options().range == balance_options().range);
  BOOST_TEST(!none.get_executor());
  BOOST_TEST((none.status() == balance_status()));
  auto track = none.track("a");
  BOOST_TEST(!track.try_move());
  BOOST_TEST(track.steps() == 0u);
  BOOST_TEST(track.name() == "");
  BOOST_TEST(!track.get_executor());
  track.leave();
  auto& refused = move(track);
  settle();
  BOOST_TEST_REQUIRE(refused.calls() == 1);
  BOOST_TEST((refused.error() == errc::closed));
  BOOST_TEST(fast.name() == "fast");
  BOOST_TEST((fast.get_executor() == io->get_executor()));
  BOOST_TEST((pace.get_executor() == io->get_executor()));
}

BOOST_AUTO_TEST_SUITE_END()
