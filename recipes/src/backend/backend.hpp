// The seam: the narrow interface between the library and the outside world, which is one connection to one server,
// time, timers, random numbers and name resolution.
//
// Nothing above this interface includes a ZooKeeper header, reads a clock, draws a random number or touches a socket.
// The real world is in zookeeper/; the tests have a simulated one. Every function is called on the session's strand,
// and calls back on the strand, never from inside the call.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/error.hpp>
#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/node.hpp>
#include <zkrecipes/session_options.hpp>
#include <zkrecipes/transaction.hpp>

namespace zkrecipes::backend {

enum class opcode {
  create,
  remove,
  get,
  set,
  exists,
  children,
  sync,
  multi,
  get_acl,
  set_acl,
  forget_data,     ///< Remove the data watch of a path.
  forget_children  ///< Remove the child watch of a path.
};

const char* to_string(opcode op) noexcept;

struct request {
  opcode op = opcode::exists;
  std::string path;  ///< As the server knows it.
  std::string data;
  std::int32_t version = any_version;
  create_mode mode = create_mode::persistent;
  acl access;
  bool watch = false;
  std::vector<operation> operations;  ///< For `multi`.
};

request make_request(opcode op, std::string path, bool watch = false);
request make_multi(const transaction& all);
/// A transaction that changes nothing and requires nothing: even if the node is missing or must not be read, the leader
/// has judged it and a quorum has logged that. A read behind it on the same connection is no older than it. A sync is
/// not enough: a leader that was deposed and has not noticed answers it, and then shows old data.
request make_catch_up();

/// `error` is clear, an answer of the server, or one of `connection_loss`, `session_expired` and `closed`. With these
/// three the request may or may not have been executed.
struct reply {
  error_code error;
  bool sent = true;        ///< False: the request was never sent, so it was surely not executed.
  bool throttled = false;  ///< The server was too busy: surely not executed. The error is `server_error`.
  std::string path;
  std::string data;
  node_stat stat;
  std::vector<std::string> children;
  acl access;
  std::vector<operation_result> results;
};

using reply_handler = std::function<void(reply)>;

enum class change { created, deleted, data, children };

struct watch_event {
  change what;
  std::string path;
};

/// Identifies the session that a server is to take up again. An id of zero asks for a new session.
struct session_key {
  std::int64_t id = 0;
  std::string password;
  std::chrono::milliseconds timeout{0};
};

struct endpoint {
  std::string address;  ///< A host name before `world::resolve`, a numeric address after it.
  std::uint16_t port = 2181;

  friend bool operator==(const endpoint&, const endpoint&) = default;
};

std::string to_string(const endpoint& server);

/// Receives the events of a link. No call comes after `down`.
class link_listener {
 public:
  virtual void up(const session_key& granted) = 0;
  /// Reasons: `connection_loss`, `timed_out` (the connection was up, and nothing came on it any more),
  /// `no_descriptors`, `session_expired`, `auth_failed`, or `closed` after `close_session`. All pending requests have
  /// been answered before.
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

struct link_options {
  endpoint server;
  session_key key;
  std::vector<credentials> digest;
};

using timer_id = std::uint64_t;

class world {
 public:
  virtual ~world() = default;

  virtual lease_clock::time_point now() = 0;
  /// For display only.
  virtual std::chrono::system_clock::time_point wall_clock() = 0;
  virtual std::uint64_t random() = 0;
  virtual timer_id call_at(lease_clock::time_point when, std::function<void()> what) = 0;
  virtual void cancel(timer_id id) = 0;

  /// Resolves names to numeric addresses. The handler gets no endpoint if none could be resolved.
  virtual void resolve(std::vector<endpoint> names, std::function<void(std::vector<endpoint>)> handler) = 0;

  /// Begins to connect. `listener` must outlive the link.
  virtual std::unique_ptr<link> connect(link_options options, link_listener& listener) = 0;
};

}  // namespace zkrecipes::backend
