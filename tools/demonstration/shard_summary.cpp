#include "shard_summary.hpp"

namespace demo {

bool shard_summary::success() const {
  const bool happened = kills >= planned_kills && pauses + restarts + drains + cuts >= planned_changes &&
                        broker_kills >= planned_broker_kills;
  return clean() && happened && moves.moves <= moves.bound && owned == shards;
}

}  // namespace demo
