// The nodes of the scenario "shards".
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "shards/group_layout.hpp"

namespace zkrecipes::simulation {

inline constexpr std::uint32_t shard_count = 8;

inline const detail::group_layout& group_paths() {
  static const detail::group_layout where{"/g"};
  return where;
}

/// The node that the owner of a shard writes to.
inline std::string effects_path(std::uint32_t shard) { return "/effects-" + detail::shard_name(shard); }

/// By shard.
template <class Value>
using of_shards = std::array<Value, shard_count>;

}  // namespace zkrecipes::simulation
