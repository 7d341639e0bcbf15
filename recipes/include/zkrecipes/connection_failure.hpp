// Why a session has no connection to a server.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <zkrecipes/error.hpp>
#include <zkrecipes/tls_error.hpp>

namespace zkrecipes {

/// The reason of a `connection_failure`.
enum class failure_reason {
  refused,      ///< Nothing listens at the address.
  unreachable,  ///< The network does not lead there; `connection_failure::error` has the system's reason.
  silent,       ///< No answer within the connect timeout: packets are dropped, or the server is paused.
  closed,       ///< The server closed the connection: no quorum, too many connections, a port for TLS only.
  /// The server refused the credentials (`session_options::digest`), or serves only sessions that have some:
  /// `connection_failure::error` tells which of the two, `auth_failed` or `auth_required`.
  authentication,
  read_only,        ///< The server has no quorum and serves reads only.
  session_refused,  ///< The server says that the session is over; a new one is asked for.
  /// The host name has no address: `connection_failure::error` is what the resolver said, or `timed_out`, if it said
  /// nothing.
  unresolved,
  no_descriptors,  ///< This process has no file descriptor left.
  tls              ///< No secure connection: `connection_failure::error` is a `tls_errc`.
};

const char* to_string(failure_reason reason) noexcept;

/// The last failure of one server. It is forgotten when the server has answered a request.
struct connection_failure {
  std::string server;  ///< "address:port", or "name:port" of a name that is not resolved.
  failure_reason reason = failure_reason::closed;
  error_code error;
  std::chrono::system_clock::time_point when;
  std::uint64_t count = 0;  ///< Failures of this server in a row.
};

}  // namespace zkrecipes
