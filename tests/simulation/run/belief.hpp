// Who believes to own the same thing at the same time, and for how long.
#pragma once

#include "world/clockwork.hpp"

#include <string>
#include <vector>

namespace zkrecipes::simulation {

/// Of one possible holder, in true time.
struct belief {
  bool held = false;
  instant until{0};  ///< The belief ends here unless it is prolonged.
  std::int64_t token = 0;
};

class belief_keeper {
 public:
  explicit belief_keeper(std::size_t holders) : present_(holders), running_(holders * holders) {}

  /// `holder` believes this from now on.
  void update(instant now, std::size_t holder, belief what);
  /// The longest uninterrupted overlap of any two.
  span longest() const noexcept { return longest_; }

 private:
  void account(instant now);

  std::vector<belief> present_;
  std::vector<span> running_;  ///< Of each pair, the overlap that may still go on.
  instant last_{0};
  span longest_{0};
};

}  // namespace zkrecipes::simulation
