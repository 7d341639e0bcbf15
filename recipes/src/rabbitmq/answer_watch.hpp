// Notices that an answer does not come.
#pragma once

#include <cstdint>

#include "session/scheduler.hpp"

namespace zkrecipes::detail {

/// Since when the same answer is awaited.
class answer_watch {
 public:
  explicit answer_watch(lease_clock::duration limit) : limit_(limit) {}

  /// To be called whenever something has happened. `what`: a number of the answer that is awaited; 0: there is none.
  /// `is_held_up`: it can not come at present. Nothing tells when that has ended, so the time begins at the next look.
  void look(std::uint64_t what, bool is_held_up, lease_clock::time_point now) noexcept {
    if (what != what_ || is_held_up || was_held_up_) since_ = now;
    what_ = what;
    was_held_up_ = is_held_up;
  }
  /// When the answer has not come in time.
  lease_clock::time_point due() const noexcept { return what_ == 0 ? never : since_ + limit_; }

 private:
  lease_clock::duration limit_;
  std::uint64_t what_ = 0;
  bool was_held_up_ = false;
  lease_clock::time_point since_{};
};

}  // namespace zkrecipes::detail
