// The id of an entry of a Redis stream.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zkrecipes::detail {

/// Ids grow along a stream. No entry has the id 0-0.
struct stream_id {
  std::uint64_t ms = 0;
  std::uint64_t sequence = 0;
  friend auto operator<=>(const stream_id&, const stream_id&) = default;
};

/// "1700000000000-3", as Redis writes it.
std::string to_string(const stream_id& id);
/// Nothing unless the text is an id as Redis writes it.
std::optional<stream_id> parse_stream_id(std::string_view text);

}  // namespace zkrecipes::detail
