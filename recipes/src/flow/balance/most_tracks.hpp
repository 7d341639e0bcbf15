#pragma once

#include <cstddef>

namespace zkrecipes::detail {

/// In one balance of a process, shared or not: each look for the slowest goes through all of them.
inline constexpr std::size_t most_tracks = 10'000;

}  // namespace zkrecipes::detail
