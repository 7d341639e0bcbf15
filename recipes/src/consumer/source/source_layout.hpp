// The nodes of a source in ZooKeeper: those of a topic, of Redis streams, of RabbitMQ queues, and of a user's source.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "shards/shard_name.hpp"

namespace zkrecipes::detail {

struct source_layout {
  std::string root;

  std::string shard(std::uint32_t number) const;
  /// The folder of the positions of a shard's groups.
  std::string positions(std::uint32_t shard_number) const;
  std::string position(std::uint32_t shard_number, std::string_view group) const;
  /// The marks of the producers in a shard, for one group.
  std::string marks(std::uint32_t shard_number, std::string_view group) const;
  std::string producers() const;
  /// The folder of the dead letters of a group.
  std::string dead(std::string_view group) const;
};

}  // namespace zkrecipes::detail
