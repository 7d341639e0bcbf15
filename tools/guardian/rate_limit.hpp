#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace guardian {

/// How many messages a connection may send: a burst, and then so many in each second.
class rate_limit {
 public:
  using clock = std::chrono::steady_clock;

  rate_limit(std::size_t burst, std::size_t rate)
      : burst_(static_cast<double>(burst)), rate_(static_cast<double>(rate)), left_(burst_) {}

  /// So many have come. Returns how long to read nothing.
  clock::duration note(std::size_t messages, clock::time_point now) {
    const auto passed = std::chrono::duration<double>(now - since_).count();
    since_ = now;
    left_ = std::min(burst_, left_ + passed * rate_) - static_cast<double>(messages);
    if (left_ >= 0) return clock::duration::zero();
    return std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(-left_ / rate_));
  }

 private:
  double burst_;
  double rate_;
  double left_;
  clock::time_point since_ = clock::now();
};

}  // namespace guardian
