#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <testcluster/error.hpp>

#include "connection.hpp"
#include "jute/messages.hpp"

namespace testcluster::detail {

/// A server does not know the session that it was asked to take up again.
class no_such_session : public error {
 public:
  using error::error;
};

/// "0x100abc", as ZooKeeper writes the id of a session.
std::string session_text(std::int64_t id);

/// One ZooKeeper session on one connection: blocking, no pings, no reconnects. Enough to probe a server.
class zk_client {
 public:
  /// Opens a new session, or takes over the session that `wanted` names. Throws no_such_session if that does not exist.
  /// `secret`: digest credentials "user:password", or empty.
  zk_client(const tcp::endpoint& server, clock::time_point deadline, const jute::session& wanted,
            std::string_view secret = {});

  const jute::session& session() const { return session_; }

  /// Returns the path created.
  std::string create(std::string_view path, std::string_view data, std::int32_t flags);
  bool exists(std::string_view path);

  /// The ephemeralOwner of a node, 0 for nodes without; nullopt if there is no such node.
  std::optional<std::int64_t> owner_of(std::string_view path);

  /// Waits until the server knows what the leader knew when it got the request.
  void sync(std::string_view path);

  /// The names of a node's children; empty if there is no such node.
  std::vector<std::string> children(std::string_view path);

  /// False if the node has children. A node that is not there counts as removed.
  bool remove(std::string_view path);

  void close();

 private:
  std::string read_frame();
  void authenticate(std::string_view secret);
  std::string call(const std::string& request, std::int32_t& result);
  std::string reply_to(std::int32_t wanted, std::int32_t& result);
  connection connection_;
  jute::session session_;
  std::int32_t xid_ = 0;
};

/// Asks a four-letter word and returns the whole answer, which has a MiB at most.
std::string four_letter_word(const tcp::endpoint& server, std::string_view word, clock::time_point deadline);

}  // namespace testcluster::detail
