// What it takes to end the session of a process that is dead.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/tree_search.hpp"

namespace zkadmin {

/// The 16 bytes that every ZooKeeper server computes from the id of a session: those of java.util.Random, whose seed is
/// the id with a constant of ZooKeeper's source (SessionTracker has no other secret). So it proves nothing about the
/// one who knows it.
std::string password_of(std::int64_t session);

/// "0x1f", or the digits alone; up to 16 of them. Throws `failure` (usage).
std::int64_t parse_session(const std::string& text);

// The terms that a session leads, in elections and shard groups.

struct led_term {
  std::string record;  ///< Path of the term's record.
  std::string node;    ///< As the record names the leader.
  std::string seat;    ///< Path of the session's node that entitles to the term.
  friend bool operator==(const led_term&, const led_term&) = default;
};

struct led_terms {
  std::vector<led_term> found{};
  std::vector<std::string> waits_at{};  ///< Elections in which the session waits.
  bool complete = true;                 ///< False: there may be more.
};

/// Searches at and below `root`. Throws `failure`.
boost::asio::awaitable<led_terms> find_led_terms(zkrecipes::session session, std::string root, std::int64_t leader,
                                                 deadline limit);

}  // namespace zkadmin
