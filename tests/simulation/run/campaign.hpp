// Runs many seeds, or one.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace zkrecipes::simulation {

// A search with fresh seeds over all scenarios and single faults until its time is over. A finding does not end it.

struct search_options {
  std::string scenario = "all";
  std::chrono::minutes limit{10};
  std::uint64_t first = 0;  ///< The first seed of each scenario; 0: derived from the clock.
  std::uint64_t seeds = 0;  ///< The most seeds in total; 0: as many as the time allows.
  int jobs = 2;
};

/// Each scenario gets the same seeds. With all scenarios each seed is also used for one operation with one fault.
/// Prints a line for each finding. Exit codes: 0 all rules held, 1 one was broken.
int run_search(const search_options& options);

// Runs that once broke a rule.

/// Exit codes as those of a campaign.
int run_regressions();

struct campaign_options {
  std::string scenario = "all";
  std::uint64_t first = 1;
  std::uint64_t seeds = 20'000;
  int jobs = 2;
  bool trace = false;
  std::string only_faults;
};

/// Exit codes: 0 all rules held, 1 one was broken.
int run_campaign(const campaign_options& options);
int run_one(const campaign_options& options);

}  // namespace zkrecipes::simulation
