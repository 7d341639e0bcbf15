// How far a group has consumed a stream, as stored.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "format/json_object.hpp"
#include "redis/stream_id.hpp"
#include "topic/log_position.hpp"

namespace zkrecipes::detail {

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
