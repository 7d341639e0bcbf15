// Pacing as one would write it first: one mutex, one condition variable.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace bench {

class locked_balance {
 public:
  explicit locked_balance(std::uint64_t range) : range_(range) {}

  void join() { steps_.emplace_back(slowest()); }
  void leave(std::size_t track) {
    const std::lock_guard lock(mutex_);
    steps_[track].reset();
    changed_.notify_all();
  }
  /// Blocks until the step may be made.
  void move(std::size_t track) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return *steps_[track] < slowest() + range_; });
    const bool was_slowest = *steps_[track] == slowest();
    ++*steps_[track];
    if (was_slowest) changed_.notify_all();
  }

 private:
  std::uint64_t slowest() const {
    std::optional<std::uint64_t> found;
    for (const auto& each : steps_) {
      if (each) found = std::min(found.value_or(*each), *each);
    }
    return found.value_or(0);
  }

  std::uint64_t range_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::optional<std::uint64_t>> steps_;  // nothing: it has left
};

}  // namespace bench
