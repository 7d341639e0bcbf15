#include "queue/spread.hpp"

#include <algorithm>

namespace zkrecipes::detail {

namespace {

/// A claim in time multiplies the reach by this, and a late one doubles it. So about one claim in eleven is late, at
/// any number of takers.
constexpr double shrinking = 15.0 / 16;
/// The reach per taker at which no more claims than these are late.
constexpr double reach_per_taker = 24;
/// The reach after the first late claim, when nothing is known of the other takers: one item in this many of the list,
/// within these bounds.
constexpr std::size_t first_share = 8;
constexpr std::size_t least_first = 16;
constexpr std::size_t max_first = 512;
/// A list is crowded if the reach is more than this many times the number of items in it.
constexpr double least_share = 6;
constexpr double longest_reach = 1e6;
/// The claims in a list count as at most this many takers, because one taker can have many claims.
constexpr std::size_t max_others = 64;
constexpr std::size_t run_length = 16;
/// One in this many new lists is begun at the front, so that the oldest item does not depend on chance.
constexpr std::uint64_t front_runs = 8;

}  // namespace

std::size_t spread::next(const std::deque<entry>& items, std::size_t ready) const {
  if (reach_ < 2) return 0;
  if (run_left_ == 0) return ready;
  const auto end = items.begin() + static_cast<std::ptrdiff_t>(ready);
  return static_cast<std::size_t>(std::upper_bound(items.begin(), end, last_, goes_first) - items.begin());
}

std::size_t spread::pick(const std::deque<entry>& items, std::size_t ready) {
  auto which = next(items, ready);
  if (which == ready) which = begin_run(ready);
  run_left_ -= std::min<std::size_t>(run_left_, 1);
  last_ = items[which];
  return which;
}

std::size_t spread::begin_run(std::size_t ready) {
  run_left_ = run_length;
  if (std::exchange(is_list_new_, false) && random_() % front_runs == 0) return 0;
  return random_() % std::min(static_cast<std::size_t>(reach_), ready);
}

void spread::was_in_time() { reach_ = std::max(reach_ * shrinking, 1.0); }

void spread::was_late(std::size_t ready) {
  const auto first = static_cast<double>(std::clamp(ready / first_share, least_first, max_first));
  reach_ = std::min(std::max(2 * reach_, first), longest_reach);
  run_left_ = 0;
  was_late_ = true;
}

void spread::meets(std::size_t others) {
  reach_ = std::max(reach_, reach_per_taker * static_cast<double>(std::min(others, max_others)));
}

void spread::listed(std::size_t others) {
  if (std::exchange(was_late_, false)) meets(others);
  is_list_new_ = true;
  run_left_ = 0;
}

bool spread::is_crowded(std::size_t ready) const noexcept { return reach_ > least_share * static_cast<double>(ready); }

void spread::forget() noexcept {
  reach_ = 1;
  run_left_ = 0;
}

}  // namespace zkrecipes::detail
