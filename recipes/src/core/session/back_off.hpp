#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "session/scheduler.hpp"

namespace zkrecipes::detail {

/// The pauses after failed tries. They double and have a random part, so that no client runs in a busy loop or in step
/// with others.
class back_off {
 public:
  using milliseconds = std::chrono::milliseconds;
  back_off(milliseconds first, milliseconds most) : first_(first), most_(most) {}

  void reset() { pause_ = milliseconds(0); }
  /// The end of the pause that begins now.
  lease_clock::time_point next(const scheduler& on) {
    pause_ = std::clamp(pause_ * 2, first_, most_);
    const auto jitter = milliseconds(on.world->random() % (static_cast<std::uint64_t>(pause_.count()) + 1));
    return on.now() + pause_ / 2 + jitter;
  }

 private:
  milliseconds first_;
  milliseconds most_;
  milliseconds pause_{0};
};

}  // namespace zkrecipes::detail
