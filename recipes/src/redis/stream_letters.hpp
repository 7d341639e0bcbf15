// The dead letters of a stream.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "redis/stream_id.hpp"
#include "shards/shard_name.hpp"

namespace zkrecipes::detail {

/// The shard of a letter whose item is `<shard>/<id of the entry>`.
inline std::optional<std::uint32_t> shard_of_stream_letter(std::string_view item) {
  const auto slash = item.find('/');
  if (slash == item.npos || !parse_stream_id(item.substr(slash + 1))) return std::nullopt;
  return parse_shard_name(item.substr(0, slash));
}

}  // namespace zkrecipes::detail
