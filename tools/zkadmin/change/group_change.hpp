// What an operator may change in a shard group.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "base/failure.hpp"
#include "change/intervention.hpp"

namespace zkadmin {

/// The number of shards of the group at `path`. Throws `failure`, as the next ones.
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

// What an operator wants of the planner of a shard group: notes, which the planner heeds.

/// Each prepares the requests. They throw `failure`, also if there is no group at the path, or nothing to change; with
/// `is_followed` there are no requests then.

/// From then on the planner takes the capacity of this member for 0.
boost::asio::awaitable<intervention> prepare_drain(zkrecipes::session session, std::string path, std::string member,
                                                   bool is_followed);
boost::asio::awaitable<intervention> prepare_undrain(zkrecipes::session session, std::string path, std::string member);

/// From then on the planner gives the shard to this member, whenever it is there.
boost::asio::awaitable<intervention> prepare_transfer(zkrecipes::session session, std::string path, std::uint32_t shard,
                                                      std::string member, bool is_followed);
boost::asio::awaitable<intervention> prepare_unpin(zkrecipes::session session, std::string path, std::uint32_t shard);

/// Each completes when the planner's orders have been carried out, and keeps in `told` where that stands. Throws
/// `failure` if it can not be carried out any more.
boost::asio::awaitable<void> follow_drain(zkrecipes::session session, std::string path, std::string member,
                                          std::string& told);
boost::asio::awaitable<void> follow_transfer(zkrecipes::session session, std::string path, std::uint32_t shard,
                                             std::string member, std::string& told);

}  // namespace zkadmin
