// What a text may do to the terminal that shows it. One rule decides for the library, zkadmin and testcluster, because
// names, data and the words of other programs may hold anything. And whole numbers, as such texts have them.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace zkrecipes::detail {

/// For numbers in names and records. Nothing unless the text consists of decimal digits, and the number fits. Leading
/// zeros are read over.
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

/// Stands for what is not shown, and for each byte that is no UTF-8.
inline constexpr char32_t replacement = U'\uFFFD';

/// Takes one character off the front of a text, which is not empty. A malformed byte gives `replacement`.
char32_t take_character(std::string_view& utf8) noexcept;

void append_utf8(std::string& text, char32_t glyph);

/// Whether a character gives an order to a terminal (control characters, U+0080 to U+009F included), takes no place of
/// its own there, turns the direction of what is behind it, or is for private use.
bool is_hidden(char32_t glyph) noexcept;

/// Most text is: then nothing has to be decoded or looked up.
bool is_plain_ascii(std::string_view text) noexcept;

/// The text with `replacement` for each hidden character.
std::string shown_text(std::string_view utf8);

/// The text with \xNN for each byte of a hidden character, except for those in `kept`, which are ASCII.
std::string coded_text(std::string_view utf8, std::string_view kept = {});

/// The same JSON, on one line, with \uNNNN for each hidden character of its strings.
std::string coded_json(std::string_view json);

}  // namespace zkrecipes::detail
