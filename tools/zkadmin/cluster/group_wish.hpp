// What an operator wants of the planner of a shard group: notes, which the planner heeds.
#pragma once

#include <cstdint>
#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/intervention.hpp"

namespace zkadmin {

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
