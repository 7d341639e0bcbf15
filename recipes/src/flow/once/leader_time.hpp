// What the clock of the ensemble's leader shows, as far as we know.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include <zkrecipes/lease_clock.hpp>

namespace zkrecipes::detail {

/// The leader stamps each write with its time, in milliseconds since 1970. From the last stamp on our own steady clock
/// goes on. This is a guess: another leader can have another clock. A decision made by it has to be checked by the next
/// stamp.
class leader_time {
 public:
  bool is_known() const noexcept { return stamp_.has_value(); }
  void note(std::int64_t stamp, lease_clock::time_point answered) {
    stamp_ = begin_ = stamp;
    answered_ = answered;
  }
  /// The stamp of an earlier write: the clock shows this time or a later one.
  void note_earlier(std::int64_t stamp, lease_clock::time_point now) {
    if (!is_known() || stamp > present(now)) return note(stamp, now);
    stamp_ = std::max(*stamp_, stamp);
  }
  std::int64_t present(lease_clock::time_point now) const {
    return begin_ + std::chrono::duration_cast<std::chrono::milliseconds>(now - answered_).count();
  }
  /// The last one: a time that a leader's clock has shown.
  std::int64_t stamp() const { return stamp_.value_or(0); }
  void forget() noexcept { stamp_.reset(); }

 private:
  std::optional<std::int64_t> stamp_;
  std::int64_t begin_ = 0;  // the stamp from which our clock goes on
  lease_clock::time_point answered_{};
};

}  // namespace zkrecipes::detail
