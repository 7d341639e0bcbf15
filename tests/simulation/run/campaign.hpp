// Runs many seeds, or one.
#pragma once

#include <cstdint>
#include <string>

namespace zkrecipes::simulation {

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
