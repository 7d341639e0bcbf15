// The bound over every window, for random calls, hold-offs, crashes and moves.
#include <algorithm>
#include <random>

#include "support/bound_judge.hpp"
#include "unit/limiting.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct bound_case : limiting {
  static constexpr std::int64_t burst = 20;
  static limiter_options usual() { return {.rate = 7, .per = 10ms, .burst = burst}; }

  std::int64_t draw(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  }
  /// Notes when the call is let through.
  void call(limiter& by) {
    const auto cost = draw(1, draw(0, 9) ? 3 : burst);
    ++calls;
    if (draw(0, 1)) {
      if (!by.try_acquire(static_cast<std::uint64_t>(cost))) return;
      in_order = in_order && by.statistics().waiting == 0;
      return let_through(cost);
    }
    auto ended = [this, cost, number = ++started](error_code error) {
      if (error) return;
      in_order = in_order && number > last_served;
      last_served = number;
      let_through(cost);
    };
    auto handler = asio::bind_executor(io().get_executor(), ended);
    if (draw(0, 3))
      by.async_acquire(static_cast<std::uint64_t>(cost), std::move(handler));
    else
      by.async_acquire_for(static_cast<std::uint64_t>(cost), std::chrono::milliseconds(draw(0, 100)),
                           std::move(handler));
  }
  void let_through(std::int64_t cost) {
    within_bound = within_bound && judge.add(now(), cost);
    within_hold = within_hold && now() >= held_until;
    acquired += cost;
  }
  void hold_off(limiter& by) {
    const std::chrono::microseconds length(draw(0, 30'000));
    settle();  // what has been let through is told first
    by.hold_off(length);
    held_until = std::max(held_until, now() + length);
  }
  /// What happens to a process: a clean hand-over passes the level on, a forced one does not even end the predecessor.
  limiter move(limiter& old, bool is_clean) {
    auto options = usual();
    if (is_clean) options.level = old.take_level();
    options.start_empty = !is_clean;
    if (!is_clean) held_until = {};  // it was told to the one that has died
    old.take_level();
    settle();
    advance(std::chrono::microseconds(draw(0, 5'000)));
    return make(options);
  }

  std::mt19937_64 random{20'260'101};
  bound_judge judge{7, 10ms, burst};
  std::int64_t calls = 0;
  std::int64_t acquired = 0;
  std::int64_t started = 0;
  std::int64_t last_served = 0;
  lease_clock::time_point held_until;
  bool within_bound = true;
  bool within_hold = true;
  bool in_order = true;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(limiter_bounds, bound_case)

BOOST_AUTO_TEST_CASE(it_holds_over_every_window_with_crashes_moves_and_hold_offs) {
  auto bank = make(usual());
  const auto begun = now();
  int moves = 0;
  while (calls < 1'000'000) {
    for (auto some = draw(1, 40); some > 0; --some) call(bank);
    if (draw(0, 999) == 0) hold_off(bank);
    if (draw(0, 2'999) == 0) {
      bank = move(bank, draw(0, 1) == 1);
      ++moves;
    }
    advance(std::chrono::microseconds(draw(0, 3) ? draw(0, 60'000) : draw(0, 200)));
  }
  // The rate is used: the limiter is asked for more than it lets through.
  const auto possible = 7 * ((now() - begun) / 10ms);
  BOOST_TEST_MESSAGE(acquired << " of " << possible << ", " << moves << " moves");
  BOOST_TEST(acquired > possible * 9 / 10);
  BOOST_TEST(moves > 10);
  advance(1h);
  BOOST_TEST(within_bound);
  BOOST_TEST(within_hold);
  BOOST_TEST(in_order);
  BOOST_TEST(timers() == 0u);
  BOOST_TEST(bank.statistics().waiting == 0u);
}

/// The judge is not blind: a successor that begins with a full burst is beyond the bound.
BOOST_AUTO_TEST_CASE(a_full_burst_after_a_crash_would_be_beyond_it) {
  for (int i = 0; i < 2; ++i) {
    auto bank = make(usual());
    while (bank.try_acquire()) let_through(1);
  }
  BOOST_TEST(!within_bound);
}

BOOST_AUTO_TEST_CASE(it_is_reached_exactly) {
  auto bank = make(usual());
  while (bank.try_acquire()) let_through(1);
  BOOST_TEST(within_bound);
  BOOST_TEST(judge.content() == burst * 10'000'000);
}

BOOST_AUTO_TEST_SUITE_END()
