// Reads a shard group, which takes a ZooKeeper session.
#pragma once

#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/group_status.hpp"
#include "cluster/reading.hpp"

namespace zkadmin {

/// The present state of the group at `path`. Errors: those of `shard_group::async_view`. Throws `failure` if the rest
/// can not be read.
boost::asio::awaitable<reading<group_status>> read_group(zkrecipes::session session, std::string path);

/// The planner of a group, by the election of its planners; null: there is none.
group_planner planner_of(const election_status* election);

}  // namespace zkadmin
