// The id of a message that a producer of the library has numbered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "format/shown_text.hpp"

namespace zkrecipes::detail {

// Numbers as the library writes them.

/// Nothing unless it is a decimal number in the usual notation: no sign, and no zeros in front.
inline std::optional<std::uint64_t> parse_plain_number(std::string_view text) {
  const bool is_usual = text.size() == 1 || !text.starts_with('0');
  return is_usual ? parse_whole<std::uint64_t>(text) : std::nullopt;
}

inline constexpr std::size_t longest_numbering_producer = 255;

/// `zkr:<producer>:<epoch>:<number>`. The epoch is a life of the producer; it counts its messages from 1 in each queue.
struct numbered_id {
  std::string producer{};  ///< 1 to 255 bytes, also colons.
  std::uint64_t epoch = 0;
  std::uint64_t number = 0;

  friend bool operator==(const numbered_id&, const numbered_id&) = default;
};

std::string to_string(const numbered_id& which);
/// Nothing unless `to_string` makes this very text, so two texts never mean the same message.
std::optional<numbered_id> parse_numbered_id(std::string_view text);

}  // namespace zkrecipes::detail
