// For how long the present piece of a career's work goes on: `career_traits::stall_limit` bounds it.
#pragma once

#include <algorithm>
#include <memory>

#include "session/condition.hpp"
#include "session/core.hpp"

namespace zkrecipes::detail {

/// On the strand, but for `idle`.
class work_clock {
 public:
  /// `changed`, which outlives it, is notified when the work does not wait any more.
  work_clock(core_ptr session, condition& changed) : session_(std::move(session)), changed_(changed) {}

  /// A piece of work begins.
  void begin() { since_ = session_->now(); }
  /// The same for several pieces at a time: when the oldest began; `never` while there is none.
  void set_since(lease_clock::time_point since);
  /// When the present piece of work began, or the last wait for work within it ended; `never` while it waits for work.
  lease_clock::time_point busy_since() const noexcept { return idle_ > 0 ? never : std::max(since_, idle_until_); }
  /// See `term::idle`. From any thread.
  static std::shared_ptr<void> idle(std::shared_ptr<work_clock> self);

 private:
  core_ptr session_;
  condition& changed_;
  int idle_ = 0;
  lease_clock::time_point since_{};
  lease_clock::time_point idle_until_{};  // when the last wait within the work ended
};

}  // namespace zkrecipes::detail
