// Tracks whose steps are balanced: the limit, waiting for slower tracks, joining and leaving.
#include <deque>
#include <limits>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/flow/balance.hpp>

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
    BOOST_TEST(waits.done());
    BOOST_TEST(!waits.error());
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
