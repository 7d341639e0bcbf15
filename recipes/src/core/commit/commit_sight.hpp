// The state of a two-phase commit as last read.
#pragma once

#include <string>
#include <vector>

#include "commit/commit_record.hpp"
#include "session/together.hpp"

namespace zkrecipes::detail {

/// A transaction's node as last seen.
struct commit_sight {
  error_code error;  ///< `no_node`, `foreign_data`, or no answer.
  commit_record record;
  node_stat stat;
  std::vector<std::string> children;  ///< If they were asked for.
  bool is_written = false;            ///< We have just written the decision.
};

/// Looks at the node behind a catch-up, so that all that others have completed is seen: one round trip.
awaitable<commit_sight> look_at_commit(core_ptr session, std::string node, persistence how_long, bool watch = false,
                                       bool with_children = false);

/// The transaction that writes the decision in the record. The version lets only one of several coordinators write it.
/// A commit also checks that every vote is there.
transaction deciding(const std::string& node, const commit_sight& seen);

/// Whether a versioned write ended so that another look has to tell what came of it.
bool is_overtaken(const error_code& error);

}  // namespace zkrecipes::detail
