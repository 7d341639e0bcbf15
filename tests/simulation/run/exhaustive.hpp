// Every operation, failing at every step in every way.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace zkrecipes::simulation {

/// Of all trials those whose name contains `filter`, and of them one in `every`, on servers whose timing the seed decides.
/// Exit codes as those of a campaign.
int run_single_faults(const std::string& filter, int every, std::uint64_t seed, bool trace);

/// One fault at one step of one operation, all chosen by the seed; if a rule was broken, a line that says so and how to
/// see it again.
std::optional<std::string> try_any_fault(std::uint64_t seed);

}  // namespace zkrecipes::simulation
