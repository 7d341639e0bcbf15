// The plan that a seed decides before the run begins: the ensemble, the clients' clocks, and which faults happen when.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <zkrecipes/session_options.hpp>

#include "model/ensemble.hpp"

namespace zkrecipes::simulation {

enum class fault_kind {
  break_connection,  ///< Both ends notice.
  lose_request,      ///< The connection breaks before the next request arrives.
  lose_answer,       ///< The next write is executed; the connection breaks before its answer is sent.
  half_open_up,      ///< For a time nothing that the client sends arrives.
  half_open_down,    ///< For a time nothing that the server sends arrives.
  blackhole,         ///< For a time nothing arrives in either direction.
  pause_client,
  restart_client,  ///< Killed without closing its session, and started again.
  expire_session,
  remove_node,  ///< An operator removes the client's node.
  cancel_operation,
  crash_server,
  cut_follower,  ///< Cut off from the leader for a time.
  lagging_server,
  refusing_server,
  silent_server,  ///< Accepts connections and sends nothing; in up to half of the cases its process is stopped instead.
  slow_network,
  depose_leader,    ///< The others elect another; it notices later. A client may lose its connection meanwhile.
  throttle_server,  ///< Refuses signs of life by itself; in half of the cases it is also cut off from the leader.
  swallow_events,   ///< For a time watches of a connection are used up and nothing is told, as without the right to
                    ///< read.
};

inline constexpr int fault_kinds = static_cast<int>(fault_kind::swallow_events) + 1;

const char* to_string(fault_kind kind) noexcept;

struct fault {
  fault_kind kind = fault_kind::break_connection;
  instant when{0};
  span lasting{0};
  int target = 0;            ///< Number of a client or a server.
  std::uint64_t detail = 0;  ///< Its meaning depends on the kind.
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
  bool takes_leases = false;  ///< The scenario itself takes nodes or sessions from their owners.

  /// True if nothing takes a node or a session from its owner, so that a lease holds until its end.
  bool leases_are_kept() const;
  /// Whether a client may miss events.
  bool swallows_events() const;
  /// Whether this client is paused at any time from `from` to `until`.
  bool is_paused(int client, instant from, instant until) const;
  /// The longest time for which a client may believe in its node after someone else has removed it.
  span longest_ignorance() const;
};

plan make_plan(std::uint64_t seed);

std::string to_string(const fault& what);

}  // namespace zkrecipes::simulation
