// Whole numbers in names and records.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace zkrecipes::detail {

/// Nothing unless the text consists of decimal digits, and the number fits. Leading zeros are read over.
template <class Number>
std::optional<Number> parse_whole(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789") != text.npos) return std::nullopt;
  Number value{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc() ? std::optional(value) : std::nullopt;
}

}  // namespace zkrecipes::detail
