// Takes a member out of a line.
#pragma once

#include <string>

#include <boost/asio/awaitable.hpp>

#include "cluster/intervention.hpp"
#include "cluster/waiting_line.hpp"

namespace zkadmin {

/// The member that is to go.
struct eviction_choice {
  std::string node{};  ///< Name of a node; empty: by its id.
  std::string id{};
  bool force = false;  ///< Also whoever holds, or may hold.
};

/// Prepares the removal of a waiter's node, on condition that it still waits; by force of any member's node, which the
/// user has to confirm. Throws `failure`.
boost::asio::awaitable<intervention> prepare_eviction(zkrecipes::session session, std::string path, recipe_query query,
                                                      eviction_choice choice, deadline limit);

/// The request to take this member of the line out of it. Throws `failure`. A pure function.
intervention eviction_of(const waiting_line& line, std::size_t which, bool force);

}  // namespace zkadmin
