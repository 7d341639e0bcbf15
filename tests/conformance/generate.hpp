// Generates scripts; a seed decides each.
#pragma once

#include "script.hpp"

#include <cstdint>

namespace zkrecipes::conformance {

script generate(std::uint64_t seed);

}  // namespace zkrecipes::conformance
