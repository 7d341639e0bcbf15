// Plays scripts on both sides.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "script.hpp"

namespace zkrecipes::conformance {

struct trial {
  std::string name;
  script what;
  std::uint64_t seed = 0;  ///< Decides the delays of the simulated ensemble.
  std::string difference;  ///< The outcome; empty if both sides agree.
};

/// Plays all of them, at most `at_once` at the same time.
void run(std::vector<trial>& all, std::size_t at_once);

/// Leaves out steps of the script as long as the sides still disagree.
trial shrink(trial failed);

}  // namespace zkrecipes::conformance
