// Reads an election without taking part in it.
#pragma once

#include <string>

#include <zkrecipes/election_view.hpp>

#include "election/term_record.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// One candidate as read.
struct candidate_node {
  std::string name;
  std::string data;
  node_stat stat;
};

/// The nodes of an election as read, before they are interpreted.
struct election_nodes {
  std::string path;
  std::string data;
  node_stat stat;
  std::vector<candidate_node> candidates;  ///< In the order of the line.
};

/// Reads the nodes of an election. If `tell` is given, `hints` gets watches on everything that can change the view;
/// they notify `tell`, and a connection is waited for without a limit. Errors: `no_node`, `no_auth`, those of the
/// session.
awaitable<outcome<election_nodes>> read_election(core_ptr session, std::string path, condition* tell,
                                                 std::vector<std::unique_ptr<watch>>* hints);

/// The meaning of the nodes at this time of the wall clock. Pure. Nothing if the data is not a term record.
std::optional<election_view> interpret(const election_nodes& nodes, std::chrono::system_clock::time_point present);

}  // namespace zkrecipes::detail
