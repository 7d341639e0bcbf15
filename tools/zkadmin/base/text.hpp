// Makes text from a cluster fit for a terminal: a node's name or data may hold anything.
#pragma once

#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace zkadmin {

/// Stands for what cannot be shown.
inline constexpr char32_t replacement = U'\uFFFD';

/// So many bytes of an answer that was not expected are shown in an error text.
inline constexpr std::size_t shown_of_garbage = 60;

/// The characters of a UTF-8 text. Malformed bytes and characters that take no place of their own on a
/// terminal (control, combining, direction marks: `zkrecipes::detail::is_hidden`) become `replacement` each, so that a
/// text can not move the cursor or pretend to be another one.
std::u32string displayable(std::string_view utf8);

/// Places that a displayable character takes on a terminal: 1 or 2.
int places(char32_t glyph) noexcept;

/// Places that a text takes once it is displayable.
int places(std::string_view utf8);

std::string to_utf8(std::u32string_view text);

/// The same text with what cannot be shown replaced.
std::string printable(std::string_view utf8);

/// The lines of a text with what a terminal can not show replaced. Tabs and line ends stay.
std::string printable_lines(std::string_view text);

/// The text with malformed UTF-8 replaced and all else as it is, for readers other than terminals.
std::string well_formed(std::string_view utf8);

/// At most this many bytes of a text; one that was longer ends in "... (70000 bytes)".
std::string shortened(std::string_view text, std::size_t most);

/// Puts an item behind the others of a list: "a, b".
void append_to_list(std::string& list, std::string_view item);

/// Without the blanks, tabs and carriage returns at both ends.
std::string_view without_blanks(std::string_view text) noexcept;

/// The number that is all of the text; nothing for another text, or a number that does not fit. `base`: 16, say.
template <class Number, class... Base>
std::optional<Number> read_number(std::string_view text, Base... base) noexcept {
  Number value{};
  const auto* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value, base...);
  return error == std::errc() && rest == end ? std::optional(value) : std::nullopt;
}

/// "1 shard", "2 shards".
std::string counted(std::uint64_t count, const std::string& name);

/// "0x1f", as ZooKeeper writes transaction and session ids.
std::string hexadecimal(std::uint64_t value);

/// "350 ms", "1.2 s", "42 s", "1m 05s", "2h 03m".
std::string short_duration(std::chrono::milliseconds duration);

/// A text that is empty is shown as "-".
inline std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

}  // namespace zkadmin
