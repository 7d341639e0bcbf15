// Single faults: runs every operation with every kind of fault at each of its steps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace zkrecipes::simulation {

/// Runs one in `every` of the trials whose name contains `filter`, on servers whose timing the seed decides.
/// Exit codes as those of a campaign.
int run_single_faults(const std::string& filter, int every, std::uint64_t seed, bool trace);

/// Runs one operation with one fault at one step, all chosen by the seed. If a rule was broken, returns a line with the
/// rule and the command that shows it again.
std::optional<std::string> try_any_fault(std::uint64_t seed);

}  // namespace zkrecipes::simulation
