// How far a group has consumed a stream, as stored.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "format/json_object.hpp"
#include "topic/log_position.hpp"

namespace zkrecipes::detail {

/// The id of an entry of a Redis stream.
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

struct stream_position {
  /// By their first entry, the last entry of each: both settled, and all between them.
  using ranges = std::map<stream_id, stream_id>;

  stream_id last{};  ///< It and all in front of it are settled.
  ranges ahead{};    ///< Settled behind the first that is not.
  std::map<stream_id, failed_attempts> failed{};
  std::string seek{};            ///< A GUID of the last seek; empty: there was none.
  json_object unknown_fields{};  ///< Those of a later version are kept.

  bool is_settled(const stream_id& which) const;
  /// The last entry that is settled.
  stream_id farthest() const { return ahead.empty() ? last : ahead.rbegin()->second; }
};

std::string serialize(const stream_position& position);
/// Nothing if the text is not a position in a stream.
std::optional<stream_position> parse_stream_position(std::string_view text);

}  // namespace zkrecipes::detail
