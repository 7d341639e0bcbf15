// The scenarios by name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "run/stage.hpp"

namespace zkrecipes::simulation {

struct named_scenario {
  const char* name;
  scenario_maker make;
};

std::span<const named_scenario> scenarios();

/// "all", and the name of each scenario.
std::vector<std::string> scenario_names();

/// The scenario with this name; for "all" the seed picks one.
const named_scenario& pick_scenario(const std::string& name, std::uint64_t seed);

}  // namespace zkrecipes::simulation
