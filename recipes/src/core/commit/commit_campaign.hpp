// The candidacy of a coordinator of two-phase commits.
#pragma once

#include <string>

#include <zkrecipes/two_phase_commit.hpp>

#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// Stands for election among the coordinators at a path, and leads for as long as it is the leader.
class commit_campaign {
 public:
  commit_campaign(core_ptr session, std::string path, commit_coordinator_options options);

  /// Stands again after each loss of the leadership. Ends with an error that makes it impossible to go on.
  awaitable<outcome<>> run();

  const scheduler_ptr& get_scheduler() const noexcept { return session_->get_scheduler(); }

 private:
  awaitable<error_code> lead_once();

  core_ptr session_;
  std::string path_;
  commit_coordinator_options options_;
  bool has_worked_ = false;  // it has been in line
};

}  // namespace zkrecipes::detail
