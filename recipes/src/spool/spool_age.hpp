// For how long messages have been accepted.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include <zkrecipes/lease_clock.hpp>

namespace zkrecipes::detail {

/// Knows when messages were accepted, without a time for each: messages that were accepted within a fiftieth of the
/// time since the oldest one share its mark. So the memory grows with the logarithm of that time.
class spool_age {
 public:
  /// The messages up to `number` that have no mark yet were accepted at this time.
  void record(std::uint64_t number, lease_clock::time_point at) {
    const bool is_near = !marks_.empty() && (at - marks_.back().at) * 50 <= at - marks_.front().at;
    if (is_near) {
      marks_.back().number = number;
    } else {
      marks_.push_back({number, at});
    }
  }
  void forget(std::uint64_t through) {
    while (!marks_.empty() && marks_.front().number <= through) marks_.pop_front();
  }
  std::optional<lease_clock::time_point> oldest() const {
    return marks_.empty() ? std::nullopt : std::optional(marks_.front().at);
  }

 private:
  struct mark {
    std::uint64_t number;
    lease_clock::time_point at;
  };
  std::deque<mark> marks_;
};

}  // namespace zkrecipes::detail
