// Reads an election without taking part in it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/election.hpp>

#include "election/term_record.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// One candidate as read.
struct candidate_node {
  candidate facts;   ///< All but its position.
  std::string data;  ///< The first one's only: the others' data says no more than `facts` does.
  node_stat stat;    ///< The first one's only.
};

/// The nodes of an election as read, before they are interpreted.
struct election_nodes {
  std::string path;
  std::string data;
  node_stat stat;
  std::vector<candidate_node> candidates;  ///< In the order of the line.
};

/// What a reader that waits for changes has, and one that looks once has not.
struct election_follower {
  condition& changed;  ///< Notified when the view can have changed.
  /// Candidates that need not be read again, unless they are first, by the names of their nodes, which no other
  /// candidate has or will have.
  std::map<std::string, candidate> known{};
  std::vector<std::unique_ptr<watch>> hints{};  ///< On everything that can change the view.
};

/// Reads the nodes of an election. For a follower it sets the watches, and waits for a connection without a limit.
/// Errors: `no_node`, `no_auth`, those of the session.
awaitable<outcome<election_nodes>> read_election(core_ptr session, std::string path, election_follower* follower);

/// The meaning of the nodes at this time of the wall clock. Pure. Nothing if the data is not a term record.
std::optional<election_view> interpret(const election_nodes& nodes, std::chrono::system_clock::time_point present);

}  // namespace zkrecipes::detail
