// The arithmetic of GCRA, the generic cell rate algorithm.
#pragma once

#include <algorithm>
#include <cstdint>

#include <zkrecipes/lease_clock.hpp>

namespace zkrecipes::detail {

/// Eighths of a nanosecond since the limiter was made. 62 bits of them are 18 years.
using ticks = std::int64_t;
inline constexpr ticks ticks_per_nanosecond = 8;
inline constexpr ticks no_ticks_limit = INT64_MAX;

/// The state of a limit is one number, the theoretical arrival time: the time at which all its credit will be back. A
/// call moves it on by its cost, and is let through if it does not get farther ahead of the present than a burst.
class arrival_rule {
 public:
  arrival_rule(std::uint64_t rate, lease_clock::duration per, std::uint64_t burst)
      : interval_(round_up(per.count() * ticks_per_nanosecond, static_cast<ticks>(rate))),
        burst_(static_cast<std::int64_t>(burst)),
        span_(interval_ * burst_) {}

  bool takes(std::uint64_t cost) const noexcept { return cost >= 1 && cost <= static_cast<std::uint64_t>(burst_); }
  /// When a call is let through that comes behind others of the cost `ahead`, which are let through as early as
  /// possible.
  ticks due(ticks arrival, std::int64_t cost, std::int64_t ahead = 0) const noexcept {
    ticks wait = 0;
    if (__builtin_mul_overflow(interval_, ahead, &wait)) return no_ticks_limit;
    const ticks alone = arrival + cost * interval_ - span_;
    return __builtin_add_overflow(alone, wait, &wait) ? no_ticks_limit : wait;
  }
  /// The arrival time behind a call that is let through now.
  ticks behind(ticks arrival, std::int64_t cost, ticks now) const noexcept {
    return std::max(arrival, now) + cost * interval_;
  }
  /// The arrival time of a limit without credit.
  ticks empty(ticks now) const noexcept { return now + span_; }
  /// The arrival time of a limit that lets nothing through until then, and a cost of 1 then.
  ticks held_until(ticks then) const noexcept { return then + span_ - interval_; }

  static constexpr ticks round_up(ticks what, ticks unit) noexcept { return (what + unit - 1) / unit; }

 private:
  ticks interval_;
  std::int64_t burst_;
  ticks span_;
};

}  // namespace zkrecipes::detail
