// Waiting for the votes on one transaction.
#pragma once

#include <memory>
#include <string>

#include "commit/commit_sight.hpp"
#include "session/core.hpp"

namespace zkrecipes::detail {

/// The wait of a coordinator for one transaction: it watches only that transaction's node.
class transaction_watch {
 public:
  transaction_watch(core_ptr session, std::string node);

  /// Reads the record and lists the votes, and watches both.
  awaitable<commit_sight> look();
  /// Waits until all votes have been seen, the time is up, or the record has to be read again. The result is `seen`
  /// with the present list of votes, or with an error.
  awaitable<commit_sight> wait_votes(commit_sight seen, lease_clock::time_point deadline);

 private:
  core_ptr session_;
  std::string node_;
  condition changed_;
  std::unique_ptr<watch> decided_;
  std::unique_ptr<watch> voted_;
};

}  // namespace zkrecipes::detail
