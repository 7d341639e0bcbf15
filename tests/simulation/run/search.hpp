// Fresh seeds over all scenarios and single faults, until the time is over; a finding does not end it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace zkrecipes::simulation {

struct search_options {
  std::string scenario = "all";
  std::chrono::minutes limit{10};
  std::uint64_t first = 0;  ///< The first seed of each scenario; 0: one that the clock decides.
  std::uint64_t seeds = 0;  ///< At most so many in all; 0: as many as the time allows.
  int jobs = 2;
};

/// Each scenario gets the same seeds, and so the same share; each seed also strikes one operation with one fault.
/// Prints a line for each finding. Exit codes: 0 all rules held, 1 one was broken.
int run_search(const search_options& options);

}  // namespace zkrecipes::simulation
