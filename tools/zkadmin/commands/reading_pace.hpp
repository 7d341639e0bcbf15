// When a kind of recipes is to be read again.
#pragma once

#include <algorithm>
#include <chrono>

namespace zkadmin {

/// Reading takes at most a tenth of the time. A kind that is not on the screen is read twice a minute at most,
/// because only its problems count.
class reading_pace {
 public:
  using clock = std::chrono::steady_clock;

  explicit reading_pace(std::chrono::nanoseconds interval) : interval_(interval) {}

  /// `refreshes`: how often the user has asked for a refresh so far.
  bool is_due(clock::time_point now, bool is_shown, unsigned refreshes) const noexcept {
    return refreshes != refreshes_ || now >= (is_shown ? due_if_shown_ : due_);
  }

  void read(clock::time_point begin, clock::time_point end, unsigned refreshes) noexcept {
    const auto pause = std::max<std::chrono::nanoseconds>(interval_, (end - begin) * 10);
    due_if_shown_ = end + pause;
    due_ = end + std::max<std::chrono::nanoseconds>(pause, std::chrono::seconds(30));
    refreshes_ = refreshes;
  }

 private:
  std::chrono::nanoseconds interval_;
  clock::time_point due_if_shown_{};
  clock::time_point due_{};
  unsigned refreshes_ = 0;
};

}  // namespace zkadmin
