#include "delivery/delivery_limiter.hpp"

#include <algorithm>

#include "delivery/retry_pause.hpp"

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

}  // namespace zkrecipes::detail
