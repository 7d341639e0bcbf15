// The terms that a session leads, in elections and shard groups.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/tree_search.hpp"

namespace zkadmin {

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
