// Numbers as the library writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "format/whole_number.hpp"

namespace zkrecipes::detail {

/// Nothing unless it is a decimal number in the usual notation: no sign, and no zeros in front.
inline std::optional<std::uint64_t> parse_plain_number(std::string_view text) {
  const bool is_usual = text.size() == 1 || !text.starts_with('0');
  return is_usual ? parse_whole<std::uint64_t>(text) : std::nullopt;
}

}  // namespace zkrecipes::detail
