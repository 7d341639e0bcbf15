#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "audit.hpp"
#include "observer.hpp"
#include "phases.hpp"

namespace demo {

/// What a run of either kind has shown.
struct figures {
  int servers = 3;
  int consumers = 3;
  audit counts;
  int planned_server_kills = 1;
  int server_leaders_killed = 0;
  int failed_consumers = 0;  ///< Those with an exit status other than 0, except those that we or a message killed.
  int runs_ended = 0;        ///< Those of them whose run ended with an error.
  int killed_by_messages = 0;
  double seconds = 0;

  /// Whether nothing was wrong with messages and consumers, and each leader of the ensemble was killed that should be.
  bool clean() const noexcept {
    return counts.clean() && failed_consumers == 0 && runs_ended == 0 && server_leaders_killed >= planned_server_kills;
  }
};

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

/// What a run with an elected consumer has shown.
struct summary : figures {
  std::map<std::int64_t, term_history> terms;
  int planned_kills = 1;
  bool saw_hand_over = false;
  std::vector<std::string> sources;  ///< The sources that the messages went through.

  /// How many leading consumers were killed by us.
  int kills() const;
  /// The gaps behind the terms that we ended by killing their leaders, in milliseconds, the shortest one first.
  std::vector<double> gaps_after_kills() const;

  /// True if no message was lost, no effect was duplicated, unexpected or out of order, exactly the bad messages were
  /// parked, no terms overlapped, no consumer failed, and every fault of the plan took place.
  bool success() const;
};

}  // namespace demo
