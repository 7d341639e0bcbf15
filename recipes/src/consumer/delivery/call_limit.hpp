// When the calls of a run may be made: its limit, and the hold-offs that messages ask for.
#pragma once

#include <optional>

#include <zkrecipes/consumer/message_outcome.hpp>

#include "career/term_state.hpp"
#include "delivery/delivery_frame.hpp"
#include "delivery/delivery_limiter.hpp"
#include "delivery/message_in_hand.hpp"

namespace zkrecipes::detail {

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
