// The undecided transactions of a two-phase commit at one moment: plain data.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/status.hpp"

namespace zkadmin {

/// A transaction without a decision.
struct undecided_status {
  std::string id;
  std::chrono::milliseconds age{0};  ///< Since it was begun, by this machine's clock against the server's.
  friend bool operator==(const undecided_status&, const undecided_status&) = default;
};

struct commit_status {
  std::string path;
  std::vector<undecided_status> undecided{};  ///< By id.
  friend bool operator==(const commit_status&, const commit_status&) = default;
};

using commit_survey = survey<commit_status>;

// Reads the undecided transactions of a two-phase commit, which takes a ZooKeeper session.

/// The present state at `path`. Errors: those of `two_phase_commit::async_undecided`. Throws `failure` if a transaction
/// can not be read.
boost::asio::awaitable<reading<commit_status>> read_commit(zkrecipes::session session, std::string path);

}  // namespace zkadmin
