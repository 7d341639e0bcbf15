// Reads the undecided transactions of a two-phase commit, which takes a ZooKeeper session.
#pragma once

#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/commit_status.hpp"
#include "cluster/reading.hpp"

namespace zkadmin {

/// The present state at `path`. Errors: those of `two_phase_commit::async_undecided`. Throws `failure` if a transaction
/// can not be read.
boost::asio::awaitable<reading<commit_status>> read_commit(zkrecipes::session session, std::string path);

}  // namespace zkadmin
