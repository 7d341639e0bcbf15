// Tracks whose steps are balanced: the limit, waiting for slower tracks, joining and leaving.
#include <deque>
#include <limits>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <zkrecipes/flow/balance.hpp>

#include "support/recorded.hpp"
#include "unit/balance_case.hpp"
#include "unit/refusal.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(balances, balance_case)

BOOST_AUTO_TEST_CASE(a_bad_option_or_name_is_refused) {
  const auto ranges = [&](std::uint64_t range) { balance(io->get_executor(), {.range = range}); };
  BOOST_TEST(refusal([&] { ranges(0); }).starts_with("balance_options::range is 0; it must be from 1 to 1000000000"));
  BOOST_TEST(refusal([&] { ranges(1'000'000'001); }).starts_with("balance_options::range is 1000000001;"));
  BOOST_TEST(refusal([&] { ranges(std::numeric_limits<std::uint64_t>::max()); }).starts_with("balance_options::range"));
  BOOST_TEST(refusal([&] {
               ranges(1);
               ranges(1'000'000'000);
             }) == "");
  BOOST_TEST(refusal([&] { balance(asio::any_io_executor()); }).starts_with("balance executor"));
  balance pace(io->get_executor());
  BOOST_TEST(refusal([&] { (void)pace.track(""); }).starts_with("balance track"));
  BOOST_TEST(refusal([&] { (void)pace.track("a\n"); }).starts_with("balance track"));
  BOOST_TEST(refusal([&] { (void)pace.track(std::string(257, 'a')); }).starts_with("balance track"));
}

BOOST_AUTO_TEST_CASE(a_track_alone_moves_for_ever) {
  auto pace = make(1);
  auto only = pace.track("only");
  BOOST_TEST(steps_until_blocked(only, 1'000) == 1'000);
  BOOST_TEST(only.steps() == 1'000u);
}

BOOST_AUTO_TEST_CASE(a_track_that_is_ahead_by_the_range_has_to_wait) {
  for (const int range : {1, 2, 3, 4, 5, 7, 100, 1'000}) {
    auto pace = make(range);
    auto fast = pace.track("fast");
    auto slow = pace.track("slow");
    BOOST_TEST(steps_until_blocked(fast, 10'000) == range);
    BOOST_TEST(slow.try_move());
    BOOST_TEST(steps_until_blocked(fast, 10'000) == 1, "at the limit it looks again");
    BOOST_TEST(steps_until_blocked(slow, 10'000) == 2 * range, "the slow one may now become the fast one");
    BOOST_TEST(pace.status().largest_spread == std::uint64_t(range));
  }
}

BOOST_AUTO_TEST_CASE(a_move_that_waits_is_made_when_the_slowest_has_moved) {
  auto pace = make(4);
  auto fast = pace.track("fast");
  auto slow = pace.track("slow");
  steps_until_blocked(fast, 4);
  auto& waits = move(fast);
  settle();
  BOOST_TEST(!waits.done());
  BOOST_TEST(!fast.try_move());
  BOOST_TEST(fast.steps() == 4u);
  BOOST_TEST(slow.try_move());
  BOOST_TEST(fast.steps() == 5u, "the step is made at once");
  BOOST_TEST(!waits.done(), "the handler is not called inside the call that ends the wait");
  settle();
  BOOST_TEST_REQUIRE(waits.calls() == 1);
  BOOST_TEST(!waits.error());
  BOOST_TEST(!fast.try_move());
}

BOOST_AUTO_TEST_CASE(a_move_that_can_be_made_is_made_by_the_call_and_told_later) {
  auto pace = make(4);
  auto one = pace.track("one");
  auto& made = move(one);
  BOOST_TEST(one.steps() == 1u);
  BOOST_TEST(!made.done());
  settle();
  BOOST_TEST_REQUIRE(made.calls() == 1);
  BOOST_TEST(!made.error());
}

BOOST_AUTO_TEST_CASE(moves_of_a_track_that_wait_are_made_in_order_one_for_each_step) {
  auto pace = make(1);
  auto fast = pace.track("fast");
  auto slow = pace.track("slow");
  BOOST_TEST(fast.try_move());
  std::vector<recorder<>*> all{&move(fast), &move(fast), &move(fast)};
  for (std::size_t made = 0; made <= all.size(); ++made) {
    settle();
    for (std::size_t i = 0; i < all.size(); ++i) BOOST_TEST(all[i]->done() == (i < made));
    BOOST_TEST(slow.try_move());
  }
}

BOOST_AUTO_TEST_CASE(the_slowest_need_not_reach_a_granule_to_let_a_new_wait_begin) {
  auto pace = make(100);
  auto fast = pace.track("fast");
  auto slow = pace.track("slow");
  steps_until_blocked(fast, 1'000);
  for (int i = 0; i < 7; ++i) BOOST_TEST(slow.try_move());
  auto& now = move(fast);
  settle();
  BOOST_TEST(now.done(), "a wait begins with a look");
  BOOST_TEST(steps_until_blocked(fast, 1'000) == 6);
  auto& later = move(fast);
  for (int i = 7; i < 24; ++i) BOOST_TEST(slow.try_move());
  settle();
  BOOST_TEST(!later.done());
  BOOST_TEST(slow.try_move());  // the 25th step ends a granule
  settle();
  BOOST_TEST(later.done());
}

BOOST_AUTO_TEST_CASE(a_track_that_waits_is_never_the_slowest) {
  for (const int range : {1, 2, 4, 9, 100}) {
    auto pace = make(range);
    auto one = pace.track("one");
    auto other = pace.track("other");
    steps_until_blocked(one, range);
    auto& waits = move(one);
    for (int i = 0; i < range; ++i) BOOST_TEST(other.try_move());
    settle();
    BOOST_TEST(waits.done());
  }
}

BOOST_AUTO_TEST_CASE(a_new_track_begins_with_the_steps_of_the_slowest) {
  auto pace = make(10);
  auto fast = pace.track("fast");
  auto slow = pace.track("slow");
  steps_until_blocked(fast, 8);
  steps_until_blocked(slow, 3);
  auto late = pace.track("late");
  BOOST_TEST(late.steps() == 3u);
  BOOST_TEST(steps_until_blocked(fast, 100) == 5);
  BOOST_TEST(slow.try_move());
  BOOST_TEST(!fast.try_move(), "the late one is the slowest now");
  BOOST_TEST(late.try_move());
  BOOST_TEST(fast.try_move());
}

BOOST_AUTO_TEST_CASE(a_track_that_leaves_is_waited_for_no_more) {
  auto pace = make(10);
  auto fast = pace.track("fast");
  auto slow = pace.track("slow");
  {
    auto slowest = pace.track("slowest");
    steps_until_blocked(slow, 2);
    steps_until_blocked(fast, 10);
    auto& waits = move(fast);
    settle();
    BOOST_TEST(!waits.done());
    slowest.leave();
    settle();
    BOOST_TEST(succeeded(waits));
    BOOST_TEST(steps_until_blocked(fast, 100) == 1);
  }
  auto& waits = move(fast);
  { const auto gone = std::move(slow); }
  settle();
  BOOST_TEST(waits.done(), "the destructor leaves");
  BOOST_TEST(steps_until_blocked(fast, 1'000) == 1'000);
}

BOOST_AUTO_TEST_CASE(of_a_track_that_has_left_no_step_is_made) {
  auto pace = make(4);
  auto one = pace.track("one");
  auto other = pace.track("other");
  steps_until_blocked(one, 4);
  auto& waiting = move(one);
  auto& second = move(one);
  one.leave();
  one.leave();
  BOOST_TEST(!waiting.done());
  auto& after = move(one);
  BOOST_TEST(!one.try_move());
  settle();
  for (const auto* each : {&waiting, &second, &after}) {
    BOOST_TEST_REQUIRE(each->calls() == 1);
    BOOST_TEST((each->error() == errc::closed));
  }
  BOOST_TEST(one.steps() == 4u);
  other.leave();
  BOOST_TEST(!other.try_move(), "without an own look at the limit, too");
}

BOOST_AUTO_TEST_CASE(the_limit_stays_when_all_have_left) {
  auto pace = make(10);
  {
    auto one = pace.track("one");
    BOOST_TEST(steps_until_blocked(one, 50) == 50);
  }
  BOOST_TEST(pace.status().limit == 60u);
  auto next = pace.track("next");
  BOOST_TEST(next.steps() == 50u);
  BOOST_TEST(pace.status().limit == 60u);
}

BOOST_AUTO_TEST_CASE(a_track_that_is_assigned_to_leaves) {
  auto pace = make(1);
  auto one = pace.track("one");
  auto slow = pace.track("slow");
  BOOST_TEST(one.try_move());
  auto& waits = move(one);
  slow = pace.track("next");
  BOOST_TEST(slow.name() == "next");
  BOOST_TEST(pace.status().tracks.size() == 2u);
  settle();
  BOOST_TEST(!waits.done(), "the next one began with the steps of the slow one");
  slow = balance_track();
  settle();
  BOOST_TEST(waits.done());
  auto& itself = one;
  one = std::move(itself);
  BOOST_TEST(one.name() == "one");
  BOOST_TEST(one.try_move());
}

BOOST_AUTO_TEST_CASE(a_status_tells_the_tracks_and_their_distance) {
  auto pace = make(10);
  auto fast = pace.track("fast");
  auto slow = pace.track("slow");
  steps_until_blocked(fast, 20);
  auto& waits = move(fast);
  for (int i = 0; i < 1; ++i) BOOST_TEST(slow.try_move());
  balance_status expected;
  expected.tracks = {{"fast", 10, true}, {"slow", 1, false}};
  expected.range = 10;
  expected.limit = 11;
  expected.spread = 9;
  expected.largest_spread = 10;
  auto seen = pace.status();  // the look at the steps lets the fast one move
  expected.tracks[0] = {"fast", 11, false};
  BOOST_TEST((seen == expected));
  settle();
  BOOST_TEST(waits.done());
  BOOST_TEST(pace.status().spread == 10u);
  fast.leave();
  slow.leave();
  seen = pace.status();
  BOOST_TEST(seen.tracks.empty());
  BOOST_TEST(seen.spread == 0u);
  BOOST_TEST(seen.largest_spread == 10u);
}

BOOST_AUTO_TEST_CASE(a_thousand_tracks_keep_together) {
  auto pace = make(8);
  std::deque<balance_track> tracks;
  for (int i = 0; i < 1'000; ++i) tracks.push_back(pace.track(std::to_string(i)));
  for (std::size_t i = 1; i < tracks.size(); ++i) BOOST_TEST(steps_until_blocked(tracks[i], 100) == 8);
  for (std::size_t i = 1; i < tracks.size(); ++i) move(tracks[i]);
  BOOST_TEST(pace.status().spread == 8u);
  BOOST_TEST(tracks.front().try_move());
  BOOST_TEST(tracks.front().try_move());  // the end of a granule
  settle();
  for (const auto& each : started) BOOST_TEST(each.done());
  tracks.pop_front();
  BOOST_TEST(pace.status().spread == 0u);
}

BOOST_AUTO_TEST_CASE(there_are_ten_thousand_tracks_at_most) {
  auto pace = make(8);
  std::deque<balance_track> tracks;
  for (int i = 0; i < 10'000; ++i) tracks.push_back(pace.track("a"));
  BOOST_CHECK_THROW((void)pace.track("b"), std::length_error);
  tracks.pop_front();
  BOOST_CHECK_NO_THROW((void)pace.track("b"));
}

BOOST_AUTO_TEST_SUITE_END()

// The moves of a balance: cancelled, of objects that have gone, in a context that ends, with every completion token.
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
