#include "shard_summary.hpp"

namespace demo {

bool shard_summary::success() const {
  const bool happened = kills >= planned_kills && pauses + restarts + drains + cuts >= planned_changes &&
                        broker_kills >= planned_broker_kills && outages + crash_loops + restores >= planned_incidents;
  // A restored backup takes the epochs back from which moves are counted.
  const bool is_steady = planned_incidents > 0 || moves.moves <= moves.bound;
  return clean() && happened && is_steady && owned == shards;
}

}  // namespace demo
