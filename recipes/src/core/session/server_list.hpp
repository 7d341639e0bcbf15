// The servers of a session: as its options name them, the order in which they are asked to take it up, and what the
// session knows of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/session.hpp>

#include "backend/link.hpp"
#include "session/session_life.hpp"

namespace zkrecipes::detail {

/// The parts of `session_options::hosts`.
struct host_list {
  std::vector<backend::endpoint> servers;
  std::string root;  ///< "" or "/a/b".
};

/// Reads "host:port,host:port/root". \throws std::invalid_argument naming the part that is wrong.
host_list parse_hosts(std::string_view text);

/// When a server goes on that was stopped for a while (a long garbage collection, a virtual machine that is moved), it
/// can find two things in its sockets: requests of a connection that the session has given up, and a later request to
/// take the session up there, given up as well. It passes both on. The second makes it the session's server again, so
/// the leader accepts the first, although the session has meanwhile looked through another server and seen that nothing
/// was done. Without the second the leader refuses the first. So a session avoids servers at which its writes may lie
/// unread.
class server_list {
 public:
  using time_point = lease_clock::time_point;

  /// Takes the result of resolving the names of the servers. A name without an address keeps those that it had. An
  /// address that several names have counts once.
  void resolved(std::vector<backend::resolved_name> names);
  bool empty() const noexcept { return all_.empty(); }
  std::size_t size() const noexcept { return all_.size(); }
  const std::vector<backend::endpoint>& all() const noexcept { return all_; }
  bool has(const backend::endpoint& server) const;

  /// The host names, or addresses, by which the user knows this server.
  std::vector<std::string> names_of(const backend::endpoint& server) const;

  /// The servers of one round, in random order. Servers that fell silent come behind the others: each that is asked
  /// costs a connect timeout. Servers at which writes may lie unread come last, the most recent of them at the very
  /// end. The server that most recently fell silent over a write is left out for ten session timeouts, if there are two
  /// others.
  std::vector<backend::endpoint> in_turn(const std::function<std::uint64_t()>& random, time_point present) const;

  /// This server was silent, to a session or to the request for one.
  void ask_late(const backend::endpoint& server);
  /// A connection to this server has ended before all writes were answered.
  void on_unread(const backend::endpoint& server);
  /// Like `on_unread`, for a connection that ended because nothing came any more: the server may be stopped.
  void on_silence(const backend::endpoint& server, time_point present, std::chrono::milliseconds session_timeout);
  /// The server has answered on a new connection. So it has already passed on everything that it read of the earlier
  /// connection, and has thrown away the rest.
  void on_read(const backend::endpoint& server);
  /// A new session begins. Unread writes of earlier sessions do no harm, because they are refused.
  void begin_session() { unread_.clear(); }

 private:
  struct unread {
    backend::endpoint server;
    time_point left_out_until;
  };

  void forget_unread(const backend::endpoint& server);

  std::vector<backend::resolved_name> names_;
  std::vector<backend::endpoint> all_;
  std::vector<backend::endpoint> silent_;  // in the order in which that was seen
  std::vector<unread> unread_;             // in the order in which the connections were lost
};

/// The reason behind the error with which an attempt to connect has ended.
failure_reason reason_of(const error_code& error) noexcept;

/// The last failure of each server.
class failure_list {
 public:
  using clock = std::chrono::system_clock;

  const connection_failure& record(std::string server, failure_reason reason, const error_code& error,
                                   clock::time_point when);
  /// The server has answered.
  void forget(std::string_view server);
  /// Forgets addresses that are not among these, and names that have an address now. Addresses can change with every
  /// look-up, so the list would grow without this.
  void keep_only(const std::vector<backend::resolved_name>& names, const std::vector<backend::endpoint>& servers);

  const std::vector<connection_failure>& all() const noexcept { return all_; }

 private:
  std::vector<connection_failure> all_;
};

/// Their addresses, which the session looks up by their names, and the last failure of each.
class known_servers {
 public:
  /// `changed` is notified when a name was looked up.
  known_servers(session_life& whose, condition& changed, std::vector<backend::endpoint> names);

  const std::vector<backend::endpoint>& names() const noexcept { return names_; }
  server_list& list() noexcept { return servers_; }
  const server_list& list() const noexcept { return servers_; }

  /// Begins to look all names up, each by itself, and waits until that is done; if servers are known, for `first_pause`
  /// only, because a slow resolver must cost neither the session nor the first connection.
  awaitable<void> look_up();
  void on_failure(const backend::endpoint& server, const error_code& error);
  /// The server has answered a request.
  void on_service(const backend::endpoint& server);

 private:
  struct sought_name {
    bool is_sought = false;  // a lookup is under way
    backend::resolved_name last;
  };

  void on_addresses(std::size_t which, backend::resolved_name answer);

  session_life& life_;
  condition& changed_;
  std::vector<backend::endpoint> names_;
  std::vector<sought_name> found_;  // of each
  server_list servers_;
  failure_list failures_;
};

}  // namespace zkrecipes::detail
