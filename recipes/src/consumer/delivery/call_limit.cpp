#include "delivery/call_limit.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "delivery/retry_pause.hpp"

namespace zkrecipes::detail {

namespace {

/// One that says "at once" and is not ready would be asked without a pause, which takes a whole processor.
constexpr std::chrono::milliseconds shortest_hold_off{10};

}  // namespace

/// Behind a predecessor that has not told its level it is not known how much credit was used.
void call_limit::take_up() {
  auto& notes = term_->notes();
  const auto& limit = frame_.options.limit;
  if (!limit) return notes.set_limit_arrival(std::nullopt);  // calls that do not count may follow
  const auto now = term_->session()->now();
  auto arrival = notes.limit_arrival();
  if (!arrival && notes.has_all_credit()) arrival = now;
  limiter_.emplace(*limit, arrival, now);
  notes.set_limit_arrival(limiter_->arrival());
}

bool call_limit::lets_through(message_in_hand& next) {
  if (!limiter_) return true;
  const auto now = term_->session()->now();
  const auto due = limiter_->due(next, now);
  if (due <= now) return true;
  limited_until_ = due;
  next.has_waited = true;
  return false;
}

void call_limit::charge(message_in_hand& which) {
  if (!limiter_) return;
  limiter_->charge(which, which.begun);
  term_->notes().set_limit_arrival(limiter_->arrival());
  if (!std::exchange(which.has_waited, false)) return;
  frame_.board.change([](queue_consumer_status& status) { ++status.waited; });
}

/// A pause of 0 takes no credit away.
void call_limit::hold_off(const message_outcome& asked) {
  const auto pause = bounded(asked.after().value_or(std::chrono::milliseconds(0)));
  const auto now = term_->session()->now();
  const auto until = now + pause;
  held_off_until_ = std::max({held_off_until_, until, now + shortest_hold_off});
  if (!limiter_ || pause.count() == 0) return;
  limiter_->hold_off(until);
  term_->notes().set_limit_arrival(limiter_->arrival());
}

}  // namespace zkrecipes::detail
