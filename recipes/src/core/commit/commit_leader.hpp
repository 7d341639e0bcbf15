// The elected coordinator decides all undecided transactions for as long as it leads.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>

#include <zkrecipes/two_phase_commit.hpp>

#include "commit/transaction_index.hpp"
#include "line/own_node.hpp"
#include "session/background.hpp"

namespace zkrecipes::detail {

/// One period of leadership.
class commit_leader : public std::enable_shared_from_this<commit_leader> {
 public:
  commit_leader(own_node_ptr node, std::string path, commit_coordinator_options options);

  /// Leads until the leadership is lost. Errors: `operation_aborted`, and those that make it impossible to go on.
  awaitable<error_code> lead();
  /// Stops all work in progress. A decision that is not written is left to the next leader.
  void stop();

 private:
  awaitable<error_code> prepare();
  awaitable<error_code> take_over();
  void begin_cleaning();
  static awaitable<void> clean(std::shared_ptr<commit_leader> self);
  static awaitable<void> finish_transaction(std::shared_ptr<commit_leader> self, std::string id,
                                            lease_clock::time_point deadline);
  bool on_failure(const std::string& id, const error_code& error);

  own_node_ptr node_;
  core_ptr session_;
  std::string path_;
  commit_coordinator_options options_;
  transaction_index index_;
  std::map<std::string, background> deciding_;  // by transaction
  background cleaning_;
  lease_clock::time_point next_cleaning_ = never;
  condition changed_;  // the list of undecided transactions, our node in the line, or the time of the next clean-up
};

}  // namespace zkrecipes::detail
