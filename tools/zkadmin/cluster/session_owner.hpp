// The session that a node belongs to.
#pragma once

#include <cstdint>
#include <limits>

#include <zkrecipes/node.hpp>

namespace zkadmin {

/// 0: none. A container, or a node with a time to live, belongs to no session although its owner is not 0.
inline std::int64_t session_of(const zkrecipes::node_stat& stat) noexcept {
  const auto owner = stat.ephemeral_owner;
  const bool is_container = owner == std::numeric_limits<std::int64_t>::min();
  const bool has_time_to_live = (static_cast<std::uint64_t>(owner) >> 40) == 0xff'0000;
  return is_container || has_time_to_live ? 0 : owner;
}

}  // namespace zkadmin
