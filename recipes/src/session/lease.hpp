// Until when we may believe that the ensemble knows our session. Pure arithmetic; the session feeds it.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/session_options.hpp>

namespace zkrecipes::detail {

class lease {
 public:
  using time_point = lease_clock::time_point;
  using duration = lease_clock::duration;

  /// The ensemble granted the session, or took it up again, at `answered` for a request sent at `asked`: the leader
  /// itself had a part in that.
  void begin(lease_mode mode, duration timeout, duration margin, time_point asked, time_point answered) {
    mode_ = mode;
    useful_ = timeout - std::min(margin, timeout / 2);
    gap_ = timeout / 4;
    proof_ = asked;
    first_ = {asked, answered};
    second_.reset();
  }

  /// A request was answered. `by_leader`: the leader itself took part (`sync`, or a write).
  void acknowledged(time_point sent, time_point answered, bool by_leader) {
    if (mode_ == lease_mode::standard) {
      proof_ = std::max(proof_, sent);
    } else if (by_leader) {
      vouch({sent, answered});
    }
  }

  time_point valid_until() const { return proof_ + useful_; }

  /// When the next heartbeat is due, if nothing else is sent, so that the belief goes on.
  time_point heartbeat_due() const {
    if (mode_ == lease_mode::standard) return proof_ + useful_ / 3;
    return second_ ? second_->answered : first_.answered + gap_;
  }

  lease_mode mode() const { return mode_; }

 private:
  struct exchange {
    time_point sent;
    time_point answered;
  };

  /// A follower reports its clients' activity to the leader in answer to the leader's ping, once in half a tick, which is
  /// at most a quarter of the timeout. Of three requests answered by the leader, the second sent that long after the
  /// first was answered, the third after the second was:
  /// - between its answers to the first two the leader has pinged, and the follower reported before it passed the second
  ///   answer on: its report tells of the first;
  /// - the third reached the leader behind that report.
  /// So the leader has heard of the first. (docs/reliability.md tells what breaks a rule with fewer.)
  void vouch(const exchange& latest) {
    if (second_ && latest.sent >= second_->answered) {
      proof_ = first_.sent;
      first_ = *std::exchange(second_, std::nullopt);
    }
    if (!second_ && latest.sent >= first_.answered + gap_) second_ = latest;
  }

  lease_mode mode_ = lease_mode::standard;
  duration useful_{};
  duration gap_{};
  time_point proof_{};  // the ensemble surely knew us when this was sent
  exchange first_{};    // what may become the next proof
  std::optional<exchange> second_;
};

}  // namespace zkrecipes::detail
