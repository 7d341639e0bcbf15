// What the simulation has found once, by name.
#pragma once

namespace zkrecipes::simulation {

/// Exit codes as those of a campaign.
int run_regressions();

}  // namespace zkrecipes::simulation
