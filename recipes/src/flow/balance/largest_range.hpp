#pragma once

#include <cstddef>
#include <cstdint>

namespace zkrecipes::detail {

/// In one balance of a process, shared or not: each look for the slowest goes through all of them.
inline constexpr std::size_t most_tracks = 10'000;

constexpr std::int64_t largest_range = 1'000'000'000;

/// Whether tracks of a balance may be apart by so much.
constexpr bool is_range(std::uint64_t range) { return range >= 1 && range <= std::uint64_t{largest_range}; }

}  // namespace zkrecipes::detail
