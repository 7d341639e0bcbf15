// When which fault happens.
#pragma once

#include <cstdint>
#include <vector>

namespace demo {

enum class fault_kind {
  resign,
  kill,
  pause,
  kill_server,
  start_server,
  kill_planner,
  restart,
  drain,
  cut,
  kill_broker,
  outage,
  crash_loop,
  restore
};

struct fault {
  double share = 0;  ///< How much of the messages is processed by then.
  fault_kind kind = fault_kind::resign;
};

/// Two planned hand-overs, a pause, and as many kills. A server that was killed is started before the next is killed.
std::vector<fault> plan_faults(int kills, int server_kills);

struct shard_fault_counts {
  int kills = 0;         ///< Each third of the planner.
  int changes = 0;       ///< In turn: a pause, a restart, a drain, a cut.
  int server_kills = 0;  ///< As above.
  int broker_kills = 0;
  int incidents = 0;  ///< In turn: an outage of the database, a process that crashes in a loop, a restored backup.
};

std::vector<fault> plan_shard_faults(const shard_fault_counts& how_many);

}  // namespace demo
