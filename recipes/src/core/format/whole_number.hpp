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
  const bool has_sign = text.starts_with('-');
  if (text.empty() || has_sign) return std::nullopt;
  Number value{};
  const auto* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  const bool is_whole = read.ec == std::errc() && read.ptr == end;
  return is_whole ? std::optional(value) : std::nullopt;
}

}  // namespace zkrecipes::detail
