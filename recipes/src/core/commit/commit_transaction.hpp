// One transaction of a two-phase commit: what its parties do with it.
#pragma once

#include <string>
#include <vector>

#include <zkrecipes/two_phase_commit.hpp>

#include "commit/transaction_index.hpp"
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

/// Each operation reads the transaction's node; nothing is remembered between two of them.
class commit_transaction {
 public:
  commit_transaction(core_ptr session, const std::string& path, std::string id);

  awaitable<outcome<>> begin(commit_record record);
  awaitable<outcome<commit_outcome>> vote(commit_vote what);
  awaitable<outcome<commit_outcome>> await_outcome();
  /// Waits for the votes until the deadline, and then writes the decision, unless another client has written it. The
  /// mark is moved in the background if we wrote it.
  awaitable<outcome<commit_outcome>> decide(lease_clock::time_point deadline);
  awaitable<outcome<commit_state>> state();

  /// Decides as `decide` does, and returns when the mark is moved: the work of a coordinator.
  awaitable<error_code> finish(lease_clock::time_point deadline);

  const scheduler_ptr& get_scheduler() const noexcept { return session_->get_scheduler(); }

 private:
  awaitable<error_code> settle(std::string by);
  awaitable<outcome<commit_outcome>> compare_votes(commit_vote what);
  awaitable<commit_sight> check_decided(lease_clock::time_point deadline);
  awaitable<error_code> wait_moved();

  core_ptr session_;
  transaction_index index_;
  std::string id_;
  std::string node_;
  std::string mark_;  // where it is while the transaction is not decided
};

}  // namespace zkrecipes::detail
