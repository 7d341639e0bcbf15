#pragma once

#include <cstdint>
#include <string>

#include "figures.hpp"
#include "moves.hpp"

namespace demo {

/// What a run with a shard group has shown.
struct shard_summary : figures {
  std::uint32_t shards = 0;
  std::uint32_t owned = 0;  ///< Shards that were executed at the end by the member that is to own them.
  move_counts moves;
  std::uint64_t joins = 0;  ///< Into the group, also by processes that had lost their session.
  int planned_kills = 0;
  int kills = 0;  ///< Owners and planners together.
  int planner_kills = 0;
  int planned_changes = 0;
  int pauses = 0;
  int restarts = 0;
  int drains = 0;
  int cuts = 0;
  std::string source;    ///< Where the shards were.
  int broker_nodes = 0;  ///< 0: there was no broker.
  int planned_broker_kills = 0;
  int broker_kills = 0;
  int planned_incidents = 0;
  int outages = 0;
  int crash_loops = 0;
  int restores = 0;
  double slowest_recovery = 0;  ///< Seconds from the end of an incident until work went on.

  /// True if no message was lost, no effect was duplicated, unexpected or out of order, no two processes had a shard at
  /// the same time, no more shards moved than may, all are owned, and every fault of the plan took place.
  bool success() const;
};

}  // namespace demo
