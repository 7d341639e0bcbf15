// What a worker plays after "open", by the kind that the tests name.
#pragma once

#include <zkrecipes/session.hpp>

#include <boost/asio/awaitable.hpp>

#include <iosfwd>
#include <memory>
#include <string>

namespace interop {

class player {
 public:
  virtual ~player() = default;
  /// What follows the "ok". \throws std::exception
  virtual boost::asio::awaitable<std::string> obey(std::string command, std::istream& words) = 0;
};

/// Takes turns, seen by the witness. `kind`: mutex, election (named as a latch's or, election-as-selector, as
/// a selector's), read or write. \throws std::invalid_argument
std::unique_ptr<player> play_turns(const std::string& kind, zkrecipes::session zk, const std::string& path,
                                   const std::string& witnessed, const std::string& name);

/// Puts and takes items.
std::unique_ptr<player> play_queue(zkrecipes::session zk, const std::string& path);
std::unique_ptr<player> play_priority_queue(zkrecipes::session zk, const std::string& path);

/// Raises, lifts and waits at a barrier, counts, and is a member of a group.
std::unique_ptr<player> play_nodes(zkrecipes::session zk, const std::string& path);

/// Registers and lists services.
std::unique_ptr<player> play_discovery(zkrecipes::session zk, const std::string& path);

}  // namespace interop
