// What all parts of one queue object share; the servers' clock.
#pragma once

#include <memory>

#include <zkrecipes/queue_base.hpp>

#include "queue/queue_layout.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

struct queue_frame {
  core_ptr session;
  queue_layout where;
  queue_options options;
};

using shared_frame = std::shared_ptr<const queue_frame>;

/// An estimate of the clock of the ensemble's leader.
///
/// The leader stamps each write with its time. Its clock showed that time between our sending and the answer, so it is
/// known to within a round trip, as long as both clocks run at the same pace. If our clock is faster, successive stamps
/// show it; without that correction a taker with a fast clock would claim each item a little early and lose its turn to
/// others.
class server_clock {
 public:
  explicit server_clock(shared_frame frame) : frame_(std::move(frame)) {}

  /// Learns the leader's time by writing a node, unless it is known from the last minute and the same connection.
  awaitable<error_code> learn();
  /// Notes the stamp (milliseconds since 1970) of a write that was sent and answered at these moments.
  void observe(std::int64_t stamp, lease_clock::time_point sent, lease_clock::time_point answered);

  bool is_known() const;
  /// The leader's clock surely shows at least `earliest` now, and at most `latest`.
  std::int64_t earliest() const;
  std::int64_t latest() const;
  /// The time on our clock at which `earliest` reaches `shown`, or at which the time has to be learned again if that is
  /// sooner.
  lease_clock::time_point when(std::int64_t shown) const;

 private:
  shared_frame frame_;
  double pace(std::int64_t stamp, lease_clock::time_point sent) const;

  std::int64_t stamp_ = 0;
  double pace_ = 1;  ///< The pace of the leader's clock relative to ours.
  lease_clock::time_point sent_{};
  lease_clock::time_point answered_{};
  std::uint64_t connection_ = 0;  // the connection on which the time was learned; 0: none yet
};

}  // namespace zkrecipes::detail
