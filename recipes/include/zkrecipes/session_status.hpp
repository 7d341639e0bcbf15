// The state of a session.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <zkrecipes/connection_failure.hpp>
#include <zkrecipes/error.hpp>

namespace zkrecipes {

/// The states of a session.
enum class session_state {
  connecting,  ///< No connection yet for this incarnation.
  connected,
  suspended,  ///< The connection broke; the ZooKeeper session may live on.
  expired,    ///< The server ended the session; a new incarnation follows.
  closed,     ///< After `async_close`, or after `auth_failed`. It is the last state.
};

const char* to_string(session_state state) noexcept;

/// A state of the session, why it was entered, and which ZooKeeper session it refers to.
struct session_status {
  session_state state = session_state::connecting;
  /// Why the connection or the ZooKeeper session ended. While there is no connection also `no_servers` or
  /// `no_descriptors`, reported anew at every try to connect.
  error_code reason;
  std::uint64_t incarnation = 0;         ///< Number of the current ZooKeeper session; so many were established so far.
  std::int64_t session_id = 0;           ///< The server's id of the current ZooKeeper session; 0: there is none.
  std::chrono::milliseconds timeout{0};  ///< The session timeout as negotiated with the server.
  std::string server;                    ///< The server connected to, as "address:port"; empty without a connection.
  std::uint64_t changes = 0;             ///< Number of changes of state so far.
  /// Why there is no connection: the last failure of each server that has answered no request since. A failure is no
  /// change of state: `session_options::log` tells it at once.
  std::vector<connection_failure> failures;
  /// The guardian (`session_options::guardian`) holds what this session has told it. No change of state.
  bool is_guarded = false;
};

}  // namespace zkrecipes
