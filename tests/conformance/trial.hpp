// Playing scripts on both sides.
#pragma once

#include "script.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace zkrecipes::conformance {

struct trial {
  std::string name;
  script what;
  std::uint64_t seed = 0;  ///< Of the delays of the simulated ensemble.
  std::string difference;  ///< The outcome: nothing if both sides agree.
};

/// Plays them all, so many at the same time.
void run(std::vector<trial>& all, std::size_t at_once);

/// Leaves steps out for as long as the sides still disagree.
trial shrink(trial failed);

}  // namespace zkrecipes::conformance
