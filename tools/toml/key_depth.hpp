// A bound for TOML files, which toml++ lacks before version 3.4: each part of a key such as a.b.c is a table in the one
// before it, and with ten thousands of them the stack ends when they are removed.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace toml_text {

/// So many dots a line may have outside of quotes and comments. No key of ours has more than a few.
inline constexpr std::size_t most_dots = 32;

/// The number of the first line with more dots, from 1 on; nothing: there is none.
inline std::optional<std::size_t> line_of_deep_key(std::string_view text) {
  std::size_t line = 1, dots = 0;
  char within = '\0';  // a quote, or the mark of a comment
  for (const char each : text) {
    if (each == '\n') {
      ++line;
      dots = 0;
      within = '\0';
    } else if (within == '\0' && (each == '"' || each == '\'' || each == '#')) {
      within = each;
    } else if (each == within && each != '#') {
      within = '\0';
    } else if (within == '\0' && each == '.' && ++dots > most_dots) {
      return line;
    }
  }
  return std::nullopt;
}

}  // namespace toml_text
