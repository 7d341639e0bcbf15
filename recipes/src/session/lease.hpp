// Until when we may believe that the ensemble knows our session. Pure arithmetic; the session feeds it.
#pragma once

#include <algorithm>

#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/session_options.hpp>

namespace zkrecipes::detail {

class lease {
 public:
  using time_point = lease_clock::time_point;
  using duration = lease_clock::duration;

  /// The ensemble granted the session, or took it up again, in answer to a request sent at `asked`: the leader itself
  /// had a part in that.
  void begin(lease_mode mode, duration timeout, duration margin, time_point asked) {
    mode_ = mode;
    useful_ = timeout - std::min(margin, timeout / 2);
    gap_ = timeout / 4;
    proof_ = latest_ = asked;
  }

  /// A request sent at `sent` was answered. `by_leader`: the leader itself took part (`sync`, or a write).
  void acknowledged(time_point sent, bool by_leader) {
    if (mode_ == lease_mode::standard) {
      proof_ = latest_ = std::max(proof_, sent);
    } else if (by_leader && sent >= latest_ + gap_) {
      // A follower reports its clients' activity to the leader once in half a tick, at most a quarter of the timeout:
      // what the leader just answered proves only that it had heard of the request that long before.
      proof_ = latest_;
      latest_ = sent;
    }
  }

  time_point valid_until() const { return proof_ + useful_; }

  /// When the next heartbeat is due, if nothing else is sent, so that the belief goes on.
  time_point heartbeat_due() const { return latest_ + (mode_ == lease_mode::standard ? useful_ / 3 : gap_); }

  lease_mode mode() const { return mode_; }

 private:
  lease_mode mode_ = lease_mode::standard;
  duration useful_{};
  duration gap_{};
  time_point proof_{};   // the ensemble surely knew us when this was sent
  time_point latest_{};  // what may become the next proof
};

}  // namespace zkrecipes::detail
