// The bound over every window of all processes that share a rate, for random calls, moves, crashes and hold-offs.
#include <algorithm>
#include <random>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "rate/slice_share.hpp"
#include "support/bound_judge.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace std::chrono_literals;
using detail::slice_credit;
using detail::ticks;

namespace {

constexpr ticks per_ms = 1'000'000 * detail::ticks_per_nanosecond;

struct rate_plan {
  std::uint64_t rate;
  std::chrono::nanoseconds per;
  std::uint64_t burst;
  std::uint32_t slices;
};

/// Processes, and slices on their way between them. The rules of a group hold: a slice has one owner at most.
class process_crowd {
 public:
  static constexpr int size = 5;

  explicit process_crowd(const rate_plan& how)
      : how_(how),
        judge_(static_cast<std::int64_t>(how.rate), how.per, static_cast<std::int64_t>(how.burst)),
        processes_(size, fresh()),
        owners_(how.slices, nobody) {}

  std::int64_t draw(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  void advance(ticks by) { now_ += by; }

  void call(int process, std::uint64_t cost) {
    auto& which = processes_[process];
    const auto due = which.due(cost);
    if (!which.take(cost, now_)) return;
    is_due_right = is_due_right && due <= now_;
    within_bound = within_bound && judge_.add(time(), static_cast<std::int64_t>(cost));
    fullest = std::max(fullest, judge_.content());
    let_through += static_cast<std::int64_t>(cost);
  }
  /// Everybody calls as often as possible.
  void rush() {
    for (int each = 0; each < size; ++each) {
      for (auto i = how_.burst; i > 0; --i) call(each, 1);
    }
  }
  /// A slice that belongs to nobody gets an owner, or an owner gives it up.
  void move() {
    auto& owner = owners_[draw(0, how_.slices - 1)];
    if (owner == nobody) {
      owner = draw(0, size - 1);
      processes_[owner].gain(1, now_);
    } else {
      processes_[owner].lose(1);
      owner = nobody;
    }
  }
  /// All slices of a process are lost. It begins anew.
  void crash(int process) {
    for (auto& each : owners_) each = each == process ? nobody : each;
    processes_[process] = fresh();
    ++crashes;
  }
  void hold_off(int process) { processes_[process].hold(now_ + draw(0, 30) * per_ms, now_); }
  /// When a call is due it is let through, and not before.
  void wait_until_due(int process, std::uint64_t cost) {
    const auto due = processes_[process].due(cost);
    if (due == detail::no_ticks_limit || due <= now_) return;
    auto before = processes_[process];
    auto then = processes_[process];
    is_due_right = is_due_right && !before.take(cost, due - 1) && then.take(cost, due);
  }
  void give_all() {
    for (auto& each : owners_) {
      if (each != nobody) continue;
      each = draw(0, size - 1);
      processes_[each].gain(1, now_);
    }
  }
  std::int64_t possible(ticks since) const {
    return static_cast<std::int64_t>(static_cast<double>(how_.rate) * static_cast<double>(now_ - since) /
                                     detail::ticks_per_nanosecond / static_cast<double>(how_.per.count()));
  }
  std::int64_t most_content() const { return static_cast<std::int64_t>(how_.burst) * how_.per.count(); }
  ticks now() const { return now_; }
  std::uint64_t largest_cost() const { return how_.burst / how_.slices; }

  bool within_bound = true;
  bool is_due_right = true;
  std::int64_t fullest = 0;
  std::int64_t let_through = 0;
  int crashes = 0;

 private:
  static constexpr std::int64_t nobody = -1;
  slice_credit fresh() const { return slice_credit(how_.rate, how_.per, how_.burst, how_.slices); }
  lease_clock::time_point time() const {
    return lease_clock::time_point(std::chrono::nanoseconds(now_ / detail::ticks_per_nanosecond));
  }

  rate_plan how_;
  bound_judge judge_;
  std::vector<slice_credit> processes_;
  std::vector<std::int64_t> owners_;
  ticks now_ = per_ms;
  std::mt19937_64 random_{20'261'124};
};

/// Random steps, a whole number of nanoseconds apart.
void run_crowd(process_crowd& all, int steps) {
  for (int step = 0; step < steps; ++step) {
    const auto what = all.draw(0, 999);
    const auto who = static_cast<int>(all.draw(0, process_crowd::size - 1));
    const auto cost = static_cast<std::uint64_t>(all.draw(1, static_cast<std::int64_t>(all.largest_cost())));
    if (what < 800) {
      all.call(who, cost);
    } else if (what < 870) {
      all.move();
    } else if (what < 940) {
      all.wait_until_due(who, cost);
    } else if (what < 990) {
      all.give_all();
    } else if (what < 995) {
      all.rush();
    } else if (what < 998) {
      all.hold_off(who);
    } else {
      all.crash(who);
    }
    const auto pause = all.draw(0, 3) ? all.draw(0, per_ms) : all.draw(0, 50) == 0 ? 200 * per_ms : 0;
    all.advance(pause / detail::ticks_per_nanosecond * detail::ticks_per_nanosecond);
  }
}

/// A limit of which everything is owned by one process.
slice_credit owner_of_all(const rate_plan& how) {
  slice_credit made(how.rate, how.per, how.burst, how.slices);
  made.gain(how.slices, 0);
  return made;
}

int drain(slice_credit& from, ticks now) {
  int count = 0;
  while (from.take(1, now)) ++count;
  return count;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(slice_credits)

BOOST_AUTO_TEST_CASE(the_bound_of_all_holds_over_every_window_with_moves_and_crashes) {
  process_crowd all({.rate = 70, .per = 10ms, .burst = 60, .slices = 12});
  const auto begun = all.now();
  run_crowd(all, 1'000'000);
  BOOST_TEST(all.within_bound);
  BOOST_TEST(all.is_due_right);
  BOOST_TEST(all.crashes > 1000);
  const auto possible = all.possible(begun);
  BOOST_TEST_MESSAGE(all.let_through << " of " << possible << ", the fullest window had " << all.fullest << " of "
                                     << all.most_content());
  BOOST_TEST(all.let_through > possible / 10);
  BOOST_TEST(all.fullest > all.most_content() * 9 / 10);
}

BOOST_AUTO_TEST_CASE(it_holds_for_odd_rates_and_bursts) {
  const rate_plan plans[] = {{.rate = 3, .per = 1ms, .burst = 7, .slices = 7},
                             {.rate = 999'983, .per = 1s, .burst = 1'009, .slices = 13},
                             {.rate = 1, .per = 1ms, .burst = 5, .slices = 2},
                             {.rate = 1'000'003, .per = 1s, .burst = 1'000, .slices = 1}};
  for (const auto& each : plans) {
    process_crowd all(each);
    run_crowd(all, 100'000);
    BOOST_TEST(all.within_bound, each.rate);
    BOOST_TEST(all.is_due_right, each.rate);
    BOOST_TEST(all.fullest > all.most_content() / 2, each.rate);
  }
}

BOOST_AUTO_TEST_CASE(slices_come_without_credit_and_earn_their_part) {
  slice_credit mine(1000, 1s, 200, 100);
  BOOST_TEST(drain(mine, 0) == 0);
  mine.gain(50, 10 * per_ms);
  BOOST_TEST(drain(mine, 10 * per_ms) == 0);
  BOOST_TEST(drain(mine, 20 * per_ms) == 5);
  mine.gain(50, 30 * per_ms);
  BOOST_TEST(drain(mine, 30 * per_ms) == 5);
  BOOST_TEST(drain(mine, 40 * per_ms) == 10);
  BOOST_TEST(drain(mine, 10'000 * per_ms) == 200);
}

BOOST_AUTO_TEST_CASE(a_slice_that_goes_takes_its_room_along) {
  auto mine = owner_of_all({.rate = 1000, .per = 1s, .burst = 200, .slices = 100});
  BOOST_TEST(drain(mine, 0) == 0);
  BOOST_TEST(mine.take(1, 1'000 * per_ms));
  mine.lose(75);
  BOOST_TEST(drain(mine, 1'000 * per_ms) == 50);
  BOOST_TEST(drain(mine, 1'100 * per_ms) == 25);
  mine.lose(25);
  BOOST_TEST(drain(mine, 9'000 * per_ms) == 0);
  BOOST_TEST(mine.due(1) == detail::no_ticks_limit);
}

BOOST_AUTO_TEST_CASE(slices_that_go_have_earned_nothing_since_the_last_refill) {
  auto mine = owner_of_all({.rate = 1000, .per = 1s, .burst = 200, .slices = 100});
  BOOST_TEST(drain(mine, 0) == 0);
  mine.lose(50);
  BOOST_TEST(drain(mine, 10 * per_ms) == 5);
}

BOOST_AUTO_TEST_CASE(the_largest_cost_is_the_burst_of_a_slice) {
  const slice_credit mine(1000, 1s, 299, 100);
  BOOST_TEST(!mine.takes(0));
  BOOST_TEST(mine.takes(2));
  BOOST_TEST(!mine.takes(3));
  BOOST_TEST(!mine.takes(UINT64_MAX));
}

BOOST_AUTO_TEST_CASE(a_hold_off_leaves_credit_for_one) {
  auto mine = owner_of_all({.rate = 1000, .per = 1s, .burst = 200, .slices = 100});
  BOOST_TEST(mine.take(1, 1'000 * per_ms));
  BOOST_TEST(mine.hold(2'000 * per_ms, 1'000 * per_ms));
  BOOST_TEST(!mine.hold(1'500 * per_ms, 1'100 * per_ms));
  BOOST_TEST(mine.due(1) == 2'000 * per_ms);
  BOOST_TEST(mine.due(2) == 2'001 * per_ms);
  BOOST_TEST(drain(mine, 2'000 * per_ms - 1) == 0);
  BOOST_TEST(drain(mine, 2'000 * per_ms) == 1);
  BOOST_TEST(drain(mine, 2'010 * per_ms) == 10);
}

BOOST_AUTO_TEST_CASE(what_finds_no_room_is_counted_as_unused) {
  auto mine = owner_of_all({.rate = 1000, .per = 1s, .burst = 200, .slices = 100});
  BOOST_TEST(drain(mine, 0) == 0);
  BOOST_TEST(drain(mine, 100 * per_ms) == 100);
  BOOST_TEST(mine.unused() == 0);
  BOOST_TEST(drain(mine, 600 * per_ms) == 200);
  BOOST_TEST(mine.unused() == 300, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(the_extreme_options_do_not_overflow) {
  auto slow = owner_of_all({.rate = 10'000, .per = 24h, .burst = 10'000, .slices = 10'000});
  const ticks day = 24 * 3'600'000 * per_ms;
  BOOST_TEST(drain(slow, day) == 10'000);
  BOOST_TEST(drain(slow, 500 * day) == 10'000);
  BOOST_TEST(drain(slow, 500 * day + day / 2) == 5'000);
  auto fast = owner_of_all({.rate = 1'000'000'000, .per = 1us, .burst = 1'000'000'000, .slices = 10'000});
  BOOST_TEST(fast.take(100'000, 8'000'000));
  BOOST_TEST(fast.hold(366 * day, 8'000'000));
  BOOST_TEST(!fast.take(1, 366 * day - 1));
  BOOST_TEST(fast.take(1, 366 * day));
}

BOOST_AUTO_TEST_SUITE_END()
