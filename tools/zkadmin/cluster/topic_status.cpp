#include "cluster/topic_status.hpp"

#include <algorithm>

namespace zkadmin {

topic_shard_status total_of(const std::vector<topic_shard_status>& shards) noexcept {
  topic_shard_status total;
  for (const auto& each : shards) {
    total.batches += each.batches;
    total.messages += each.messages;
    total.oldest = std::max(total.oldest, each.oldest);
  }
  return total;
}

}  // namespace zkadmin
