// The guardian of a process that has died, as a process of its own.
#pragma once

#include <optional>
#include <vector>

#include "guardian/dead_session.hpp"
#include "world/sim_world.hpp"

namespace zkrecipes::simulation {

/// Ends one session, some time after the death of its process.
class undertaker {
 public:
  /// `where.inside`: the guardian's process.
  undertaker(const surroundings& where, detail::dead_session what);
  ~undertaker();
  undertaker(const undertaker&) = delete;

  void begin();
  const process& inside() const noexcept { return *where_.inside; }
  /// Nothing as long as it is at work.
  const std::optional<detail::dead_session_result>& result() const noexcept { return result_; }

 private:
  surroundings where_;
  detail::dead_session what_;
  detail::scheduler_ptr on_;
  std::optional<detail::dead_session_result> result_;
};

}  // namespace zkrecipes::simulation
