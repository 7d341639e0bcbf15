// The dead letters of RabbitMQ queues.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "shards/shard_name.hpp"

namespace zkrecipes::detail {

/// The shard of a letter whose item is `<shard>/<name of the message>`. The name may have slashes, too.
inline std::optional<std::uint32_t> shard_of_queue_letter(std::string_view item) {
  const auto slash = item.find('/');
  const bool is_named = slash != item.npos && slash + 1 < item.size();
  return is_named ? parse_shard_name(item.substr(0, slash)) : std::nullopt;
}

}  // namespace zkrecipes::detail
