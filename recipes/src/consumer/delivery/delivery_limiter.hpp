// The limit of a consumer's calls in one run.
#pragma once

#include <cstdint>
#include <optional>

#include <zkrecipes/consumer/queue_consumer.hpp>
#include <zkrecipes/lease_clock.hpp>

#include "delivery/message_in_hand.hpp"
#include "limit/arrival_rule.hpp"

namespace zkrecipes::detail {

/// The arithmetic of a `limiter`, without its waiting: a run has its own timer, and one strand. It needs no session.
class delivery_limiter {
 public:
  /// `how` has been checked, and outlives it. `arrival`: when all credit is back. Nothing: there is no credit now.
  /// A level of a term with another rate can be higher than any that this rate gives. It counts as the highest of
  /// those: the longest hold-off, and no credit behind it.
  delivery_limiter(const message_limit& how, std::optional<lease_clock::time_point> arrival,
                   lease_clock::time_point now);

  /// When a call for this message may be made; a moment that is not after `now`: at once.
  lease_clock::time_point due(message_in_hand& which, lease_clock::time_point now);
  /// The call is made.
  void charge(message_in_hand& which, lease_clock::time_point now);
  /// Lets nothing through until then, and a cost of 1 then.
  void hold_off(lease_clock::time_point until);
  /// When all credit is back.
  lease_clock::time_point arrival() const { return time_of(arrival_); }

 private:
  ticks latest_arrival(lease_clock::time_point now) const;
  std::uint64_t cost_of(message_in_hand& which) const;
  ticks ticks_of(lease_clock::time_point when) const { return (when - origin_).count() * ticks_per_nanosecond; }
  lease_clock::time_point time_of(ticks when) const {
    return origin_ + lease_clock::duration(arrival_rule::round_up(when, ticks_per_nanosecond));
  }

  const message_limit& how_;
  arrival_rule rule_;
  lease_clock::time_point origin_;
  ticks arrival_;
};

}  // namespace zkrecipes::detail
