// When which fault happens.
#pragma once

#include <cstdint>
#include <vector>

namespace demo {

enum class fault_kind { resign, kill, pause, kill_server, start_server, kill_planner, restart, drain, cut };

struct fault {
  double share = 0;  ///< How much of the messages is processed by then.
  fault_kind kind = fault_kind::resign;
};

/// Two planned hand-overs, a pause, and as many kills. A server that was killed is started before the next is killed.
std::vector<fault> plan_faults(int kills, int server_kills);

/// As many kills, each third of the planner, and as many of these in turn: a pause, a restart, a drain, a cut. Servers
/// as above.
std::vector<fault> plan_shard_faults(int kills, int changes, int server_kills);

}  // namespace demo
