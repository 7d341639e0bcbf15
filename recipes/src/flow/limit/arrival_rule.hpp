// The arithmetic of GCRA, the generic cell rate algorithm.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <zkrecipes/lease_clock.hpp>

#include "session/condition.hpp"

namespace zkrecipes::detail {

// Bounds that keep arrival times within 62 bits.

/// The longest `per`, and the longest time after which a whole burst has come back.
inline constexpr lease_clock::duration longest_span = std::chrono::hours(24 * 366);
inline constexpr lease_clock::duration longest_hold_off = longest_span;
/// A second more, because intervals are rounded up.
inline constexpr lease_clock::duration longest_level = longest_span + longest_hold_off + std::chrono::seconds(1);

inline void require_option(bool is_right, std::string_view type, std::string_view field, const std::string& value,
                           std::string_view wanted) {
  if (is_right) return;
  throw std::invalid_argument(std::string(type).append("::").append(field).append(" is ").append(value).append("; ") +
                              std::string(wanted));
}

inline std::string in_nanoseconds(lease_clock::duration length) { return std::to_string(length.count()) + " ns"; }

/// \throws std::invalid_argument naming the type and the field.
template <class Options>
void check_rate(std::string_view type, const Options& options) {
  constexpr std::uint64_t largest_number = 1'000'000'000;
  constexpr std::string_view whole_range = "it must be from 1 to 1000000000";
  const lease_clock::duration per = options.per;
  require_option(options.rate >= 1 && options.rate <= largest_number, type, "rate", std::to_string(options.rate),
                 whole_range);
  require_option(per >= std::chrono::microseconds(1) && per <= longest_span, type, "per", in_nanoseconds(per),
                 "it must be from 1 us to 366 days");
  require_option(options.burst >= 1 && options.burst <= largest_number, type, "burst", std::to_string(options.burst),
                 whole_range);
  const auto seconds = std::chrono::duration<double>(per).count() * static_cast<double>(options.burst);
  const auto longest = std::chrono::duration<double>(longest_span).count() * static_cast<double>(options.rate);
  require_option(seconds <= longest, type, "burst", std::to_string(options.burst),
                 "it must come back, at this rate, within 366 days");
}

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

// The clock of a limiter.

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
