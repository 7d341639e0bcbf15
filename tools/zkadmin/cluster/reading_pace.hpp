// When something is to be read again.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace zkadmin {

/// Reading takes at most a tenth of the time, unless one takes longer than three seconds: that is the time of an
/// outage. At most 20 nodes of one thing are read in a second. A thing that is not on the screen is read twice a minute
/// at most, because only its problems count.
class reading_pace {
 public:
  using clock = std::chrono::steady_clock;

  explicit reading_pace(std::chrono::nanoseconds interval) : interval_(interval) {}

  bool is_due(clock::time_point now, bool is_shown) const noexcept { return now >= (is_shown ? due_if_shown_ : due_); }

  /// `nodes`: so many were read.
  void read(clock::time_point begin, clock::time_point end, std::size_t nodes) noexcept {
    const auto by_time = std::min<std::chrono::nanoseconds>((end - begin) * 10, longest_pause);
    const auto by_nodes = std::chrono::milliseconds(50) * static_cast<std::int64_t>(nodes);
    const auto pause = std::max<std::chrono::nanoseconds>({interval_, by_time, by_nodes});
    due_if_shown_ = end + pause;
    due_ = end + std::max<std::chrono::nanoseconds>(pause, longest_pause);
  }

 private:
  static constexpr auto longest_pause = std::chrono::seconds(30);

  std::chrono::nanoseconds interval_;
  clock::time_point due_if_shown_{};
  clock::time_point due_{};
};

}  // namespace zkadmin
