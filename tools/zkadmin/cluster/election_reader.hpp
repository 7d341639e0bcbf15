// Reads an election, which takes a ZooKeeper session.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/election.hpp>
#include <zkrecipes/session.hpp>

#include "cluster/status.hpp"

namespace zkadmin {

/// The present state of one election; nothing if its node is gone. Foreign data and refused access are shown as a
/// phase; other errors throw `failure`.
boost::asio::awaitable<std::optional<election_status>> view_election(zkrecipes::session session, std::string path);

/// What a view tells: all but `leaderless_for`.
election_status status_of(const zkrecipes::election_view& view);

/// The present state of one election, of what the library has answered.
boost::asio::awaitable<std::optional<election_status>> status_of_look(zkrecipes::session session, std::string path,
                                                                      zkrecipes::error_code error,
                                                                      zkrecipes::election_view view);

/// Whether time alone changes it.
bool has_ages(const election_status& status) noexcept;

/// As it is after this time, if nothing else has changed.
void grow_older(election_status& status, std::chrono::milliseconds by);

}  // namespace zkadmin
