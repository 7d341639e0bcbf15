// A member of a double barrier as the name of its node describes it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "line/line_spec.hpp"

namespace zkrecipes::detail {

/// The markers of the names of members, for rounds of any size.
std::span<const std::string_view> round_markers();
/// The marker of our own names.
std::string round_marker(int size);

struct round_member {
  std::string name;
  std::string guid;
  int size = 0;
  std::int32_t place = 0;
};

/// Parses the name of a member; nothing if the name is not a member's.
std::optional<round_member> parse_round_member(const member& who);

}  // namespace zkrecipes::detail
