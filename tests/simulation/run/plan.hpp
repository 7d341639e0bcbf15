// What a seed decides before the run begins: the ensemble, the clients' clocks, and which faults happen when.
#pragma once

#include "model/ensemble.hpp"

#include <zkrecipes/session_options.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace zkrecipes::simulation {

enum class fault_kind {
  break_connection,  ///< Both ends learn of it.
  lose_request,      ///< The connection breaks before the next request arrives.
  lose_answer,       ///< The next write happens, the connection breaks before its answer is sent.
  half_open_up,      ///< What the client sends does not arrive for a time.
  half_open_down,    ///< What the server sends does not arrive for a time.
  blackhole,         ///< Both.
  pause_client,
  restart_client,  ///< Killed without a goodbye, and started again.
  expire_session,
  remove_node,  ///< An operator removes the client's node.
  cancel_operation,
  crash_server,
  cut_follower,  ///< From the leader, for a time.
  lagging_server,
  refusing_server,
  silent_server,  ///< Accepts connections and says nothing; half of the times its process is stopped.
  slow_network,
  depose_leader,    ///< The others elect another; it notices later. The target's connection breaks meanwhile.
  throttle_server,  ///< It refuses signs of life by itself; half of the times it is cut off from the leader, too.
};

inline constexpr int fault_kinds = static_cast<int>(fault_kind::throttle_server) + 1;

const char* to_string(fault_kind kind) noexcept;

struct fault {
  fault_kind kind = fault_kind::break_connection;
  instant when{0};
  span lasting{0};
  int target = 0;            ///< Number of a client or a server.
  std::uint64_t detail = 0;  ///< Meaning depends on the kind.
};

struct plan {
  std::uint64_t seed = 0;
  ensemble_settings servers;
  int clients = 4;
  std::chrono::milliseconds timeout{0};
  lease_mode lease = lease_mode::standard;
  std::vector<std::int64_t> parts_per_million;  ///< Error of each client's clock.
  instant faults_from{0};
  instant faults_until{0};
  std::vector<fault> faults;
  bool takes_leases = false;  ///< So does what the scenario itself does.

  /// Nobody takes a node or a session from its owner: a lease is worth what it says.
  bool leases_are_kept() const;
  /// Whether this client is paused at any time between these two.
  bool is_paused(int client, instant from, instant until) const;
  /// The longest belief in a node that somebody has removed.
  span longest_ignorance() const;
};

plan make_plan(std::uint64_t seed);

std::string to_string(const fault& what);

}  // namespace zkrecipes::simulation
