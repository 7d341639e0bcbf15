// What an operator may change in a shard group.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/intervention.hpp"
#include "failure.hpp"

namespace zkadmin {

/// A node, or nothing if there is none. Throws `failure`, as the next ones.
boost::asio::awaitable<std::optional<zkrecipes::node_data>> find_node(zkrecipes::session session, std::string path);

/// The number of shards of the group at `path`.
boost::asio::awaitable<std::int64_t> require_group(zkrecipes::session session, std::string path);
void require_shard(const std::string& path, std::uint32_t shard, std::int64_t count);

/// The text, and that nothing was sent.
failure nothing_to_do(const std::string& text);

/// Each prepares the requests. They throw `failure`, also if there is no group at the path, or nothing to change.

/// From then on the planner takes no shard from a member that does not drain.
boost::asio::awaitable<intervention> prepare_freeze(zkrecipes::session session, std::string path);

/// The plan goes on.
boost::asio::awaitable<intervention> prepare_thaw(zkrecipes::session session, std::string path);

/// Ends the quarantine of a shard.
boost::asio::awaitable<intervention> prepare_release(zkrecipes::session session, std::string path, std::uint32_t shard);
/// Ends the quarantine of all shards of the group, a hundred at a time.
boost::asio::awaitable<intervention> prepare_release_of_all(zkrecipes::session session, std::string path);

}  // namespace zkadmin
