// The bounds of what a career declares, and of the options of its coordinator.
#pragma once

#include <chrono>

#include <zkrecipes/consumer/leader_career.hpp>

namespace zkrecipes::detail {

/// \throws std::invalid_argument naming the field.
void require_within_hour(const char* field, std::chrono::milliseconds value);
/// \throws what `leader_career::traits` throws, and std::invalid_argument naming the field that is out of bounds.
career_traits traits_of(const leader_career& career);

}  // namespace zkrecipes::detail
