// Hook and counters that show what a session does, for logs and metrics.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>

#include <zkrecipes/error.hpp>

namespace zkrecipes {

/// One request and its answer. The views are valid only during the call of the hook.
struct trace_event {
  std::string_view operation;  ///< "create", "remove", "get", "set", "exists", "children", "sync", "multi", ...
  std::string_view path;       ///< As sent to the server, root path included.
  std::chrono::nanoseconds round_trip;
  error_code outcome;
};

/// Called for every answered or failed request. A hook: see docs/operations.md.
using trace_hook = std::function<void(const trace_event&)>;

/// Totals since the session object was made.
struct session_counters {
  std::uint64_t requests = 0;
  std::uint64_t answers = 0;
  std::uint64_t retries = 0;       ///< Tries again after a lost connection, or after a server was too busy.
  std::uint64_t connects = 0;      ///< Connections established.
  std::uint64_t incarnations = 0;  ///< ZooKeeper sessions established.
  std::uint64_t watch_events = 0;
  std::uint64_t heartbeats = 0;  ///< Requests that only prove that the session lives, or probe what it waits for.
  std::uint64_t guardian_failures = 0;  ///< The guardian was absent, ended the connection, or refused something.
};

}  // namespace zkrecipes
