// The servers of a session, and the order in which they are asked to take it up.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include <zkrecipes/lease_clock.hpp>

#include "backend/backend.hpp"

namespace zkrecipes::detail {

/// A server that was stopped for a while (a long collection of garbage, a virtual machine that is moved) finds two things in its
/// sockets: the requests of a connection that the session has given up, and perhaps a later request to take the session up
/// there, given up as well. It executes both. The second makes it the session's server again, so that the leader accepts the
/// first, although the session has looked through another server meanwhile and found nothing done. Without the second
/// the leader refuses the first. So a session does not ask a server at which writes of its own may lie unread.
class server_list {
 public:
  using time_point = lease_clock::time_point;

  void resolved(std::vector<backend::endpoint> found) { all_ = std::move(found); }
  bool empty() const noexcept { return all_.empty(); }
  std::size_t size() const noexcept { return all_.size(); }

  /// The servers of one round, in an order of its own each time. Those at which writes may lie unread come last, the latest
  /// of them at the very end. Of those that fell silent the latest is left out for its time, if there are two others.
  std::vector<backend::endpoint> in_turn(const std::function<std::uint64_t()>& random, time_point present) const;

  /// A connection to this server has ended before all writes were answered.
  void note_unread(const backend::endpoint& server);
  /// The same, and it ended because nothing came any more: the server may be stopped.
  void note_silent(const backend::endpoint& server, time_point present, std::chrono::milliseconds session_timeout);
  /// It has answered on a new connection: what it had read of the earlier one it has passed on before, and thrown away the rest.
  void note_read(const backend::endpoint& server);
  /// Writes of an earlier session are refused.
  void begin_session() { unread_.clear(); }

 private:
  struct unread {
    backend::endpoint server;
    time_point left_out_until;
  };

  std::vector<backend::endpoint> all_;
  std::vector<unread> unread_;  // in the order of the losses
};

}  // namespace zkrecipes::detail
