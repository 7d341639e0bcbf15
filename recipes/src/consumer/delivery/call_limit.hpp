// When the calls of a run may be made: its limit, and the hold-offs that messages ask for.
#pragma once

#include <cstdint>
#include <optional>

#include <zkrecipes/consumer/message_outcome.hpp>
#include <zkrecipes/consumer/queue_consumer.hpp>
#include <zkrecipes/lease_clock.hpp>

#include "career/term_state.hpp"
#include "delivery/delivery_frame.hpp"
#include "delivery/message_in_hand.hpp"
#include "limit/arrival_rule.hpp"

namespace zkrecipes::detail {

/// The limit of a consumer's calls in one run.
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

/// The term keeps the level of the limit, because a term can have several runs, and passes it on. On the strand.
class call_limit {
 public:
  call_limit(term_ptr term, delivery_frame& frame) : term_(std::move(term)), frame_(frame) {}

  /// The run begins.
  void take_up();
  bool is_used() const noexcept { return limiter_.has_value(); }
  /// Nothing is known to wait for the limit, so far.
  void forget_waiting() noexcept { limited_until_ = never; }
  /// Whether a call for this message may be made now. If not, it waits for the limit.
  bool lets_through(message_in_hand& next);
  void charge(message_in_hand& which);
  void hold_off(const message_outcome& asked);

  /// When the message may be begun that waits for the limit; `never` while none does.
  lease_clock::time_point limited_until() const noexcept { return limited_until_; }
  lease_clock::time_point held_off_until() const noexcept { return held_off_until_; }

 private:
  term_ptr term_;
  delivery_frame& frame_;
  std::optional<delivery_limiter> limiter_;
  lease_clock::time_point limited_until_ = never;
  lease_clock::time_point held_off_until_{};
};

}  // namespace zkrecipes::detail
