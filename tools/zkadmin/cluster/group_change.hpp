// What an operator may change in a shard group.
#pragma once

#include <cstdint>
#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/intervention.hpp"

namespace zkadmin {

/// Each prepares the requests. They throw `failure`, also if there is no group at the path, or nothing to change.

/// From then on the planner takes no shard from a member that does not drain.
boost::asio::awaitable<intervention> prepare_freeze(zkrecipes::session session, std::string path);

/// The plan goes on.
boost::asio::awaitable<intervention> prepare_thaw(zkrecipes::session session, std::string path);

/// Ends the quarantine of a shard.
boost::asio::awaitable<intervention> prepare_release(zkrecipes::session session, std::string path, std::uint32_t shard);

}  // namespace zkadmin
