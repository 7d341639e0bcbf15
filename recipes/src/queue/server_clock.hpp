// The clock of the ensemble's leader, as far as it can be known from here.
#pragma once

#include "queue/layout.hpp"

namespace zkrecipes::detail {

/// The leader stamps what it writes. Between sending and answer it showed that time: its clock is known to within a
/// round trip, for as long as the clocks run alike. That ours is the faster one shows from stamp to stamp; else whoever
/// has a fast clock would claim a little early each time, and lose its turn to others.
class server_clock {
 public:
  explicit server_clock(shared_frame frame) : frame_(std::move(frame)) {}

  /// Asks, by writing a node, unless it is known from the last minute and the same connection.
  awaitable<error_code> learn();
  /// What was stamped with this, in milliseconds since 1970, between these two moments.
  void note(std::int64_t stamp, lease_clock::time_point sent, lease_clock::time_point answered);

  bool is_known() const;
  /// It surely shows at least this now; at most that.
  std::int64_t earliest() const;
  std::int64_t latest() const;
  /// When, by our clock, `earliest` will be there; or when it has to be asked again, if that is before.
  lease_clock::time_point when(std::int64_t shown) const;

 private:
  shared_frame frame_;
  double pace(std::int64_t stamp, lease_clock::time_point sent) const;

  std::int64_t stamp_ = 0;
  double pace_ = 1;  ///< Of the leader's clock, in terms of ours.
  lease_clock::time_point sent_{};
  lease_clock::time_point answered_{};
  std::uint64_t connection_ = 0;  // whose leader it was; 0: none yet
};

}  // namespace zkrecipes::detail
