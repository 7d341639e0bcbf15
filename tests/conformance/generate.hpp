// Generates scripts; a seed decides each.
#pragma once

#include <cstdint>

#include "script.hpp"

namespace zkrecipes::conformance {

script generate(std::uint64_t seed);

}  // namespace zkrecipes::conformance
