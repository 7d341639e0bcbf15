#include "rate/slice_credit.hpp"

#include <algorithm>

namespace zkrecipes::detail {

slice_credit::slice_credit(std::uint64_t rate, lease_clock::duration per, std::uint64_t burst, std::uint32_t slices)
    : interval_(arrival_rule::round_up(per.count() * ticks_per_nanosecond * static_cast<ticks>(slices),
                                       static_cast<ticks>(rate))),
      room_(interval_ * static_cast<ticks>(burst) / static_cast<ticks>(slices)),
      largest_cost_(burst / slices) {}

void slice_credit::gain(std::uint32_t how_many, ticks now) {
  refill(now);
  owned_ += how_many;
}

void slice_credit::lose(std::uint32_t how_many) {
  owned_ -= how_many;
  content_ = std::min(content_, whole_room());
}

bool slice_credit::take(std::uint64_t cost, ticks now) {
  refill(now);
  const auto needed = interval_ * static_cast<ticks>(cost);
  if (now < held_until_ || content_ < needed) return false;
  content_ -= needed;
  return true;
}

bool slice_credit::hold(ticks until, ticks now) {
  refill(now);
  if (until <= held_until_) return false;
  held_until_ = until;
  content_ = std::min(content_, interval_);
  return true;
}

ticks slice_credit::due(std::uint64_t cost) const noexcept {
  if (owned_ == 0) return no_ticks_limit;
  auto after = *this;
  const auto start = std::max(filled_at_, held_until_);
  after.refill(start);
  const auto missing = std::max<ticks>(interval_ * static_cast<ticks>(cost) - after.content_, 0);
  return start + arrival_rule::round_up(missing, owned_);
}

void slice_credit::refill(ticks now) {
  const auto held = std::min(now, held_until_);
  if (held > filled_at_) {
    earn(held - filled_at_, interval_);
    filled_at_ = held;
  }
  if (now > filled_at_) {
    earn(now - filled_at_, whole_room());
    filled_at_ = now;
  }
}

/// A slice fills its own room in `room_` ticks, so the product of a shorter time and the slices can not overflow.
void slice_credit::earn(ticks length, ticks room) {
  if (owned_ == 0) return;
  const auto space = std::max<ticks>(room - content_, 0);
  const bool is_filled = length >= room_ || length * owned_ >= space;
  if (is_filled) unused_ += (static_cast<double>(length) * owned_ - static_cast<double>(space)) / interval_;
  content_ += is_filled ? space : length * owned_;
}

}  // namespace zkrecipes::detail
