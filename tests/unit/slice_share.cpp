// The slices of a process: they count while their terms are valid; those that wait for them.
#include "rate/slice_share.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "support/bound_judge.hpp"
#include "unit/limiting.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using detail::slice_share;
using namespace std::chrono_literals;
using detail::slice_credit;
using detail::ticks;

namespace {

/// A rate of 1000 a second in 10 slices with bursts of 5, in the share of a process.
struct share_case : limiting {
  share_case() { share->open(1); }
  void add(std::uint32_t from, std::uint32_t to) {
    for (auto each = from; each < to; ++each) {
      valid_until[each] = detail::never;
      share->add(each, [this, each] { return valid_until[each]; });
    }
  }
  void acquire(recorder<>& by, std::uint64_t cost = 1) {
    share->acquire(by.token(), cost, lease_clock::duration::max());
  }
  int drain_all() {
    int count = 0;
    while (share->try_acquire(1)) ++count;
    return count;
  }
  shared_limiter_status status() {
    shared_limiter_status shown;
    share->show_in(shown);
    return shown;
  }

  std::map<std::uint32_t, lease_clock::time_point> valid_until;
  std::shared_ptr<slice_share> share =
      std::make_shared<slice_share>(make_scheduler(), detail::slice_credit(1000, 1s, 50, 10));
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(slice_shares, share_case)

BOOST_AUTO_TEST_CASE(without_slices_nothing_is_let_through) {
  advance(1h);
  BOOST_TEST(drain_all() == 0);
  BOOST_TEST(status().slices == 0u);
}

BOOST_AUTO_TEST_CASE(the_part_of_the_rate_is_that_of_the_slices) {
  add(0, 4);
  BOOST_TEST(drain_all() == 0);
  advance(20ms);
  BOOST_TEST(drain_all() == 8);
  share->remove(2);
  share->remove(2);
  share->remove(7);
  advance(20ms);
  BOOST_TEST(drain_all() == 6);
  BOOST_TEST(status().slices == 3u);
  BOOST_TEST(share->statistics().acquired == 14u);
}

BOOST_AUTO_TEST_CASE(nothing_is_let_through_behind_the_end_of_the_lease) {
  add(0, 10);
  const auto end = now() + 1s;
  for (auto& [number, until] : valid_until) until = end;
  advance(1s - 1ns);
  BOOST_TEST(share->try_acquire(1));
  BOOST_TEST((status().valid_until == end));
  advance(1ns);  // looked at a nanosecond ago
  BOOST_TEST(drain_all() == 0);
  BOOST_TEST(status().slices == 0u);
  BOOST_TEST((status().valid_until == lease_clock::time_point()));
}

BOOST_AUTO_TEST_CASE(a_slice_that_is_given_up_behind_our_back_counts_for_10_ms_at_most) {
  add(0, 10);
  advance(1s);
  BOOST_TEST(share->try_acquire(1));
  for (std::uint32_t each = 0; each < 9; ++each) valid_until[each] = {};
  advance(10ms);
  BOOST_TEST(drain_all() == 5, "the burst of one");
  BOOST_TEST(status().slices == 1u);
}

BOOST_AUTO_TEST_CASE(a_validity_that_comes_back_brings_no_credit) {
  add(0, 10);
  advance(1s);
  const auto end = now();
  for (auto& [number, until] : valid_until) until = end;
  BOOST_TEST(drain_all() == 0);
  for (auto& [number, until] : valid_until) until = detail::never;
  advance(10ms);
  BOOST_TEST(drain_all() == 0);
  advance(10ms);
  BOOST_TEST(drain_all() == 10);
}

BOOST_AUTO_TEST_CASE(one_that_waits_is_let_through_when_a_validity_comes_back) {
  add(0, 10);
  for (auto& [number, until] : valid_until) until = {};
  auto& mine = expect();
  acquire(mine);
  advance(1s);
  BOOST_TEST(!mine.done());
  for (auto& [number, until] : valid_until) until = detail::never;
  advance(11ms);
  BOOST_TEST(ended_with(mine, error_code()));
  BOOST_TEST(timers() == 0u);
}

BOOST_AUTO_TEST_CASE(those_that_wait_without_a_share_are_served_in_order_when_it_comes) {
  acquire(expect("a"), 5);
  acquire(expect("b"));
  acquire(expect("c"), 2);
  BOOST_TEST(timers() == 0u);
  advance(1h);
  BOOST_TEST(order == "");
  add(0, 10);
  BOOST_TEST(!share->try_acquire(1), "nobody is overtaken");
  advance(5ms - 1ns);
  BOOST_TEST(order == "");
  advance(1ns);
  BOOST_TEST(order == "a");
  advance(1ms);
  BOOST_TEST(order == "ab");
  advance(2ms);
  BOOST_TEST(order == "abc");
  BOOST_TEST(timers() == 0u);
  BOOST_TEST(share->statistics().waited == 3u);
}

BOOST_AUTO_TEST_CASE(a_share_that_changes_moves_the_time_of_those_that_wait) {
  add(0, 10);
  acquire(expect("a"), 5);
  advance(2ms);
  for (std::uint32_t each = 0; each < 8; ++each) share->remove(each);  // 2 are earned
  advance(15ms - 1ns);
  BOOST_TEST(order == "");
  advance(1ns);
  BOOST_TEST(order == "a");
  acquire(expect("b"), 5);
  advance(1ms);
  add(0, 8);
  advance(5ms);
  BOOST_TEST(order == "ab");
}

BOOST_AUTO_TEST_CASE(the_last_slice_goes_and_those_that_wait_go_on_waiting) {
  add(0, 1);
  acquire(expect("a"));
  share->remove(0);
  settle();
  BOOST_TEST(timers() == 0u);
  advance(1h);
  add(1, 2);
  advance(10ms);
  BOOST_TEST(order == "a");
}

BOOST_AUTO_TEST_CASE(a_budget_that_is_over_is_told_then) {
  auto& none = expect();
  share->acquire(none.token(), 1, 0s);
  settle();
  BOOST_TEST(ended_with(none, errc::timed_out));
  auto& later = expect();
  auto& sooner = expect();
  auto& last = expect("last");
  share->acquire(later.token(), 1, 20ms);
  share->acquire(sooner.token(), 1, 10ms);
  acquire(last);
  advance(10ms);
  BOOST_TEST(ended_with(sooner, errc::timed_out));
  BOOST_TEST(!later.done());
  advance(10ms);
  BOOST_TEST(ended_with(later, errc::timed_out));
  BOOST_TEST(timers() == 0u);
  add(0, 10);
  advance(1ms);
  BOOST_TEST(ended_with(last, error_code()));
  BOOST_TEST(share->statistics().declined == 3u);
}

BOOST_AUTO_TEST_CASE(a_cancelled_one_leaves_its_credit_to_the_next) {
  add(0, 10);
  auto& big = expect("big");
  acquire(big, 5);
  acquire(expect("small"));
  advance(2ms);
  big.cancel();
  settle();
  BOOST_TEST(ended_with(big, asio::error::operation_aborted));
  BOOST_TEST(order == "small");
  BOOST_TEST(timers() == 0u);
  auto& timed = expect();
  share->acquire(timed.token(), 5, 1h);
  timed.cancel();
  settle();
  BOOST_TEST(ended_with(timed, asio::error::operation_aborted));
  BOOST_TEST(timers() == 0u);
}

BOOST_AUTO_TEST_CASE(a_cost_that_a_slice_can_not_let_through_is_refused) {
  add(0, 10);
  advance(1s);
  BOOST_TEST(!share->try_acquire(0));
  BOOST_TEST(!share->try_acquire(6));
  acquire(expect(), 0);
  acquire(expect(), 6);
  settle();
  for (auto& each : all) BOOST_TEST(ended_with(each, errc::bad_arguments));
  BOOST_TEST(share->try_acquire(5));
}

BOOST_AUTO_TEST_CASE(a_hold_off_delays_those_that_wait) {
  add(0, 10);
  acquire(expect("a"), 5);
  share->hold_off(1s);
  share->hold_off(500ms);
  advance(1s);
  BOOST_TEST(order == "");
  BOOST_TEST(!share->try_acquire(1));
  advance(4ms);  // a cost of 1 has been there
  BOOST_TEST(order == "a");
  BOOST_TEST(share->statistics().held_off == 1u);
}

BOOST_AUTO_TEST_CASE(the_end_of_a_run_ends_those_that_wait) {
  acquire(expect());
  share->close(1);
  settle();
  BOOST_TEST(ended_with(all.back(), errc::closed));
  acquire(expect());
  settle();
  BOOST_TEST(ended_with(all.back(), errc::closed));
  share->open(2);
  share->close(1);  // the end of an earlier run, told late
  acquire(expect("a"));
  add(0, 10);
  advance(1ms);
  BOOST_TEST(order == "a");
  BOOST_TEST(timers() == 0u);
}

BOOST_AUTO_TEST_CASE(a_context_that_is_destroyed_takes_those_that_wait_along) {
  auto guard = std::make_shared<int>();
  const std::weak_ptr<int> watch = guard;
  add(0, 1);
  share->acquire(asio::bind_executor(io().get_executor(), [guard, keeps = share](error_code) {}), 1, 1h);
  guard.reset();
  settle();
  BOOST_TEST(timers() == 1u);
  share.reset();
  destroy_context();
  BOOST_TEST(watch.expired());
  BOOST_TEST(timers() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

// The bound over every window of all processes that share a rate, for random calls, moves, crashes and hold-offs.
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
