#include "delivery/call_limit.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "delivery/circuit_breaker.hpp"

namespace zkrecipes::detail {

delivery_limiter::delivery_limiter(const message_limit& how, std::optional<lease_clock::time_point> arrival,
                                   lease_clock::time_point now)
    : how_(how),
      rule_(how.rate, how.per, how.burst),
      origin_(now),
      arrival_(arrival ? std::clamp<ticks>(ticks_of(*arrival), 0, latest_arrival(now)) : rule_.empty(0)) {}

ticks delivery_limiter::latest_arrival(lease_clock::time_point now) const {
  return rule_.empty(ticks_of(now + longest_pause));
}

std::uint64_t delivery_limiter::cost_of(message_in_hand& which) const {
  if (!which.cost) {
    try {
      which.cost = how_.cost ? std::min(how_.cost(*which.what), how_.burst) : 1;
    } catch (...) {
      which.cost = how_.burst;
    }
  }
  return *which.cost;
}

lease_clock::time_point delivery_limiter::due(message_in_hand& which, lease_clock::time_point now) {
  const auto cost = static_cast<std::int64_t>(cost_of(which));
  return cost == 0 ? now : time_of(rule_.due(arrival_, cost));
}

void delivery_limiter::charge(message_in_hand& which, lease_clock::time_point now) {
  const auto cost = static_cast<std::int64_t>(cost_of(which));
  if (cost > 0) arrival_ = rule_.behind(arrival_, cost, ticks_of(now));
}

void delivery_limiter::hold_off(lease_clock::time_point until) {
  arrival_ = std::max(arrival_, rule_.held_until(ticks_of(until)));
}

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
