// The seam's connection to a server: where it is, and what it carries.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/ip/tcp.hpp>

#include <zkrecipes/error.hpp>
#include <zkrecipes/session_options.hpp>

#include "backend/request.hpp"

namespace zkrecipes::backend {

// How sockets of TCP are opened.

/// Opens a socket that no child process inherits, unlike Asio's, and that sends each write at once. Errors: those of
/// the system.
error_code open_tcp_socket(boost::asio::ip::tcp::socket& socket, const boost::asio::ip::tcp& protocol);

/// Where a server listens.
struct endpoint {
  std::string address;  ///< A host name before `world::resolve`, a numeric address after it.
  std::uint16_t port = 2181;

  friend bool operator==(const endpoint&, const endpoint&) = default;
};

/// "address:port", with brackets around an IPv6 address.
std::string to_string(const endpoint& server);

/// One host name and its numeric addresses. No address: it could not be resolved, for the reason that the system gave;
/// `timed_out`: it gives no answer.
struct resolved_name {
  endpoint name;
  std::vector<endpoint> addresses;
  error_code error{};
};

/// Identifies the session that a server is to take up again. An id of zero asks for a new session.
struct session_key {
  std::int64_t id = 0;
  std::string password;
  std::chrono::milliseconds timeout{0};
};

// What a server says about a node that it watches.

enum class change { created, deleted, data, children };

struct watch_event {
  change what;
  std::string path;
};

class tls_context;

/// Which server a link connects to, and for which session.
struct link_options {
  endpoint server;
  session_key key;
  std::vector<credentials> digest{};
  std::shared_ptr<tls_context> tls{};  ///< Null: plain text.
  std::vector<std::string> names{};    ///< Those that the user has written for this server.
  bool is_of_parent = false;  ///< In a child of `fork`: the session is that of its parent, who may be using it.
};

/// Receives the events of a link. No call comes after `down`.
class link_listener {
 public:
  virtual void up(const session_key& granted) = 0;
  /// Reasons: `connection_loss`, `timed_out` (nothing came any more),
  /// `no_descriptors`, `session_expired`, `auth_failed`, `read_only`, or `closed` after `close_session`. Before `up`
  /// also an error of the operating system, if that is why there is no connection: `connection_refused`,
  /// `host_unreachable` and such, or a `tls_errc`. All pending requests have been answered before.
  virtual void down(error_code reason) = 0;
  virtual void fired(const watch_event& event) = 0;

 protected:
  ~link_listener() = default;
};

/// One connection to one server, carrying one session. Requests are executed in the order of submission. Watches end
/// with the link. Destroying it drops the connection at once without a call back; the session lives on.
class link {
 public:
  virtual ~link() = default;
  /// Only between `up` and `down`. The handler is called exactly once, unless the link is destroyed first.
  virtual void submit(request what, reply_handler handler) = 0;
  /// Ends the session on the server; `down` follows, with `closed`, when that is certain or the connection broke.
  virtual void close_session() = 0;
};

}  // namespace zkrecipes::backend
