// Keeps track of how long two holders believe at the same time to own the same thing.
#pragma once

#include <string>
#include <vector>

#include "world/clockwork.hpp"

namespace zkrecipes::simulation {

/// The belief of one possible holder, in true time.
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
  std::vector<span> running_;  ///< For each pair the present overlap, which may still go on.
  instant last_{0};
  span longest_{0};
};

}  // namespace zkrecipes::simulation
