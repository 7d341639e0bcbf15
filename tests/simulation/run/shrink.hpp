// Finds out which faults of a failing run matter.
#pragma once

#include <vector>

#include "run/stage.hpp"

namespace zkrecipes::simulation {

/// Indices of a minimal set of faults with which the same rule is broken: no single one of them can be left out.
std::vector<std::size_t> shrink(const plan& what, const scenario_maker& make, const violation& broken);

}  // namespace zkrecipes::simulation
