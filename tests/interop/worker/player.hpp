// The part that a worker plays after "open", chosen by the kind that the tests name.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

namespace interop {

class player {
 public:
  virtual ~player() = default;
  /// Executes a command; returns the text that follows "ok" in the answer. \throws std::exception
  virtual boost::asio::awaitable<std::string> obey(std::string command, std::istream& words) = 0;
};

/// Takes turns, seen by the witness. `kind`: mutex, election (with a latch's names), election-as-selector (with a
/// selector's names), read or write. \throws std::invalid_argument
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
