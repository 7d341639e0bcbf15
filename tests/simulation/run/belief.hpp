// Who believes to own the same thing at the same time, and for how long.
#pragma once

#include "world/clockwork.hpp"

#include <string>
#include <vector>

namespace zkrecipes::simulation {

/// Of one client, in true time.
struct belief {
  bool held = false;
  instant until{0};  ///< The belief ends here unless it is prolonged.
};

class belief_keeper {
 public:
  explicit belief_keeper(std::size_t clients) : present_(clients), running_(clients * clients) {}

  /// `client` believes this from now on.
  void update(instant now, std::size_t client, belief what);
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
