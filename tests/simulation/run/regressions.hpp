// Runs that once broke a rule.
#pragma once

namespace zkrecipes::simulation {

/// Exit codes as those of a campaign.
int run_regressions();

}  // namespace zkrecipes::simulation
