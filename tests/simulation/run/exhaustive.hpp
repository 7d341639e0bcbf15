// Every operation, failing at every step in every way.
#pragma once

#include <string>

namespace zkrecipes::simulation {

/// Of all trials those whose name contains `filter`, and of them one in `every`. Exit codes as those of a campaign.
int run_single_faults(const std::string& filter, int every, bool trace);

}  // namespace zkrecipes::simulation
