#include "run/belief.hpp"

#include <algorithm>

namespace zkrecipes::simulation {

void belief_keeper::update(instant now, std::size_t holder, belief what) {
  account(now);
  present_[holder] = what;
}

/// Adds the time since the last call to the overlaps that go on.
void belief_keeper::account(instant now) {
  for (std::size_t a = 0; a < present_.size(); ++a) {
    for (std::size_t b = a + 1; b < present_.size(); ++b) {
      auto& running = running_[a * present_.size() + b];
      const bool both = present_[a].held && present_[b].held;
      const auto end = both ? std::min({present_[a].until, present_[b].until, now}) : last_;
      if (end > last_) running += end - last_;
      longest_ = std::max(longest_, running);
      if (end < now || !both) running = span(0);
    }
  }
  last_ = now;
}

}  // namespace zkrecipes::simulation
