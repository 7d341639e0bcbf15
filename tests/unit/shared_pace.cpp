// The tracks of one process in a shared balance: what they may do, and the floor that the others are told.
#include "balance/shared_pace.hpp"

#include <boost/test/unit_test.hpp>

#include "support/coroutine.hpp"
#include "support/fake_world.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using detail::shared_pace;

namespace {

/// A range of 8, so granules of 2.
struct pace_case : fake_bench {
  pace_case() { pace->open(); }
  void admit(std::int64_t limit) {
    pace->admit(limit, [this] { return valid_until; });
  }
  int steps_of(detail::shared_track& track, int most = 100) {
    int made = 0;
    while (made < most && pace->try_move(track)) ++made;
    return made;
  }
  recorder<>& move(const shared_pace::track_ptr& track) {
    auto& made = moves.emplace_back(io().get_executor());
    pace->move(track, made.token());
    settle();
    return made;
  }

  int told = 0;
  lease_clock::time_point valid_until = detail::never;
  std::shared_ptr<shared_pace> pace = std::make_shared<shared_pace>(make_scheduler(), 8, [this] { ++told; });
  std::deque<recorder<>> moves;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(shared_paces, pace_case)

BOOST_AUTO_TEST_CASE(no_step_is_made_before_the_process_has_joined) {
  auto track = pace->add("a");
  BOOST_TEST(told == 1);
  BOOST_TEST(steps_of(*track) == 0);
  auto& waits = move(track);
  BOOST_TEST(!waits.done());
  admit(8);
  settle();
  BOOST_TEST(waits.done());
  BOOST_TEST(steps_of(*track) == 7);
  BOOST_TEST(pace->steps(*track) == 8u);
  pace->leave(*track);
}

BOOST_AUTO_TEST_CASE(a_newcomer_begins_at_the_limit_less_the_range) {
  auto track = pace->add("a");
  admit(108);
  BOOST_TEST(pace->steps(*track) == 100u);
  pace->raise(110);
  BOOST_TEST(steps_of(*track) == 10);
  auto second = pace->add("b");
  BOOST_TEST(pace->steps(*second) == 110u);
  pace->leave(*track);
  pace->leave(*second);
}

BOOST_AUTO_TEST_CASE(no_step_is_made_behind_the_end_of_the_lease) {
  auto track = pace->add("a");
  valid_until = now() + 1s;
  admit(8);
  BOOST_TEST(steps_of(*track, 3) == 3);
  advance(1s);
  BOOST_TEST(!pace->try_move(*track));
  auto& waits = move(track);
  BOOST_TEST(!waits.done());
  BOOST_TEST(pace->refresh());  // it has to be looked at again
  BOOST_TEST(pace->next_floor().value_or(-1) == 2);
  told = 0;
  pace->raise(10);
  settle();
  BOOST_TEST(!waits.done());
  BOOST_TEST(told == 1);     // the membership has to look for the lease again
  valid_until = now() + 1s;  // the session lived on after all
  BOOST_TEST(!pace->refresh());
  settle();
  BOOST_TEST(waits.done());
  BOOST_TEST(pace->steps(*track) == 4u);
  pace->leave(*track);
}

BOOST_AUTO_TEST_CASE(a_lease_that_is_renewed_while_a_move_begins_to_wait_is_not_missed) {
  auto track = pace->add("a");
  int looks = 0;
  pace->admit(8, [&looks] { return ++looks == 1 ? lease_clock::time_point{} : detail::never; });
  told = 0;
  auto& waits = move(track);  // renewed behind its first look
  BOOST_TEST(!waits.done());
  BOOST_TEST(told == 1);
  BOOST_TEST(!pace->refresh());
  settle();
  BOOST_TEST(waits.done());
  BOOST_TEST(steps_of(*track) == 7);
  told = 0;
  BOOST_TEST(!move(track).done());  // at the limit: nothing to look for
  BOOST_TEST(told == 0);
  pace->leave(*track);
}

BOOST_AUTO_TEST_CASE(the_floor_is_due_at_the_end_of_each_granule_of_the_slowest) {
  auto fast = pace->add("fast");
  auto slow = pace->add("slow");
  admit(8);
  told = 0;
  BOOST_TEST(steps_of(*fast) == 8);
  BOOST_TEST(told == 0);
  BOOST_TEST(!pace->next_floor());
  BOOST_TEST(steps_of(*slow, 1) == 1);
  BOOST_TEST(told == 0);
  BOOST_TEST(steps_of(*slow, 1) == 1);
  BOOST_TEST(told == 1);
  BOOST_TEST(pace->next_floor().value_or(-1) == 2);
  BOOST_TEST(!pace->next_floor());
  BOOST_TEST(steps_of(*slow, 5) == 5);  // to 7, past two granules: the floor does not lag behind
  BOOST_TEST(pace->next_floor().value_or(-1) == 6);
  pace->leave(*slow);
  BOOST_TEST(pace->next_floor().value_or(-1) == 8);
  pace->leave(*fast);
}

BOOST_AUTO_TEST_CASE(the_slowest_is_never_blocked_by_a_limit_that_counts_its_floor) {
  for (std::uint64_t range = 1; range < 30; ++range) {
    auto alone = std::make_shared<shared_pace>(make_scheduler(), range, [] {});
    alone->open();
    auto track = alone->add("a");
    alone->admit(static_cast<std::int64_t>(range), [] { return detail::never; });
    for (int i = 0; i < 100; ++i) {
      BOOST_TEST_REQUIRE(alone->try_move(*track), "range " << range << ", step " << i);
      if (auto floor = alone->next_floor()) alone->raise(*floor + static_cast<std::int64_t>(range));
    }
    alone->leave(*track);
  }
}

BOOST_AUTO_TEST_CASE(a_track_that_comes_after_the_last_one_has_left_is_not_below_the_floor_that_was_told) {
  auto track = pace->add("a");
  admit(8);
  BOOST_TEST(steps_of(*track) == 8);
  BOOST_TEST(pace->next_floor().value_or(-1) == 8);
  pace->leave(*track);
  auto next = pace->add("b");
  BOOST_TEST(pace->steps(*next) == 8u);
  BOOST_TEST(!pace->suspend_if_empty());
  pace->leave(*next);
  BOOST_TEST(pace->suspend_if_empty());
  auto late = pace->add("c");
  BOOST_TEST(!pace->try_move(*late));
  pace->leave(*late);
}

BOOST_AUTO_TEST_CASE(a_track_that_comes_after_the_last_one_has_left_is_not_below_what_the_limit_was_raised_by) {
  auto track = pace->add("a");
  admit(8);
  BOOST_TEST(steps_of(*track, 2) == 2);
  BOOST_TEST(pace->next_floor().value_or(-1) == 2);  // its write is without an answer
  BOOST_TEST(steps_of(*track, 3) == 3);
  BOOST_TEST(pace->promise_floor().value_or(-1) == 4);  // the pacer raises the limit to 12 by it
  pace->leave(*track);
  auto next = pace->add("b");
  BOOST_TEST(pace->steps(*next) == 4u);
  BOOST_TEST(pace->promise_floor().value_or(-1) == 4);
  BOOST_TEST(pace->next_floor().value_or(-1) == 4);
  pace->leave(*next);
  pace->suspend();
  admit(9);  // the path was begun anew
  auto late = pace->add("c");
  BOOST_TEST(pace->steps(*late) == 1u);
  pace->leave(*late);
}

BOOST_AUTO_TEST_CASE(a_membership_that_is_over_stops_the_tracks_and_the_next_moves_them_forward) {
  auto track = pace->add("a");
  admit(8);
  BOOST_TEST(steps_of(*track, 3) == 3);
  pace->suspend();
  BOOST_TEST(!pace->try_move(*track));
  auto& waits = move(track);
  pace->raise(20);
  settle();
  BOOST_TEST(!waits.done());
  admit(50);
  settle();
  BOOST_TEST(waits.done());
  BOOST_TEST(pace->steps(*track) == 43u);
  pace->suspend();
  admit(30);  // the limit's node was removed, and begun anew by somebody who knew less
  BOOST_TEST(pace->steps(*track) == 30u);
  pace->leave(*track);
}

BOOST_AUTO_TEST_CASE(moves_that_wait_end_with_the_run_the_track_or_their_cancellation) {
  auto track = pace->add("a");
  admit(8);
  BOOST_TEST(steps_of(*track) == 8);
  auto& first = move(track);
  auto& second = move(track);
  BOOST_TEST(!pace->try_move(*track));  // none is overtaken
  first.cancel();
  settle();
  BOOST_TEST((first.error() == asio::error::operation_aborted));
  BOOST_TEST(!second.done());
  pace->raise(9);
  settle();
  BOOST_TEST(!second.error());
  auto& third = move(track);
  pace->close();
  settle();
  BOOST_TEST((third.error() == errc::closed));
  BOOST_TEST((move(track).error() == errc::closed));
  pace->open();
  auto& fourth = move(track);
  BOOST_TEST(!fourth.done());
  pace->leave(*track);
  settle();
  BOOST_TEST((fourth.error() == errc::closed));
  BOOST_TEST(!pace->try_move(*track));
  BOOST_TEST(pace->steps(*track) == 9u);
}

BOOST_AUTO_TEST_SUITE_END()
