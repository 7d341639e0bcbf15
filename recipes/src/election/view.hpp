// Looking at an election from outside.
#pragma once

#include <string>

#include <zkrecipes/election_view.hpp>

#include "election/term_record.hpp"
#include "session/core.hpp"

namespace zkrecipes::detail {

/// One candidate as read.
struct candidate_node {
  std::string name;
  std::string data;
  zkrecipes::stat stat;
};

/// What was read of an election, before it is interpreted.
struct election_nodes {
  std::string path;
  std::string data;
  zkrecipes::stat stat;
  std::vector<candidate_node> candidates;  ///< In order.
};

/// Errors: `no_node`, `no_auth`, `foreign_data`, those of the session. With watches on everything that can change the
/// view, if `tell` is given; they are added to `hints`.
awaitable<outcome<election_nodes>> read_election(core_ptr session, std::string path, condition* tell,
                                                 std::vector<std::unique_ptr<watch>>* hints);

/// Pure: what the nodes mean at this time by the wall clock. Nothing if the data is not a term record.
std::optional<election_view> interpret(const election_nodes& nodes, std::chrono::system_clock::time_point present);

}  // namespace zkrecipes::detail
