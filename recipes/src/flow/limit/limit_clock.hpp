// The clock of a limiter.
#pragma once

#include <utility>

#include "limit/arrival_rule.hpp"
#include "session/scheduler.hpp"

namespace zkrecipes::detail {

class limit_clock {
 public:
  explicit limit_clock(scheduler_ptr on) : on_(std::move(on)), world_(*on_->world), origin_(world_.now()) {}

  /// On any thread.
  ticks now() const noexcept { return (world_.now() - origin_).count() * ticks_per_nanosecond; }
  /// Rounded up: a timer must not be too early.
  lease_clock::time_point time_of(ticks when) const noexcept { return origin_ + length_of(when); }

  static lease_clock::duration length_of(ticks length) noexcept {
    return lease_clock::duration(arrival_rule::round_up(length, ticks_per_nanosecond));
  }
  /// The sum of two lengths that are not negative; at most the longest length that there is.
  static lease_clock::duration sum(lease_clock::duration one, lease_clock::duration other) noexcept {
    constexpr auto longest = lease_clock::duration::max();
    return one > longest - other ? longest : one + other;
  }
  static ticks ticks_of(lease_clock::duration length) noexcept { return length.count() * ticks_per_nanosecond; }
  /// The end of a budget that begins at `from`.
  static ticks end_of(time_budget budget, ticks from) noexcept {
    const lease_clock::duration length = budget;
    if (length <= lease_clock::duration::zero()) return from;
    return length.count() >= (no_ticks_limit - from) / ticks_per_nanosecond ? no_ticks_limit : from + ticks_of(length);
  }

  const scheduler_ptr& get_scheduler() const noexcept { return on_; }

 private:
  scheduler_ptr on_;
  backend::world& world_;
  lease_clock::time_point origin_;
};

}  // namespace zkrecipes::detail
