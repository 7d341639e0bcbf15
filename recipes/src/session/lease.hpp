// Until when we may believe that the ensemble knows our session. Pure arithmetic; the session feeds it.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/session_options.hpp>

namespace zkrecipes::detail {

/// The parties that surely had a part in an answer: the server that gave it, the leader, or a quorum that logged a transaction.
enum class witness { server, leader, quorum };

class lease {
 public:
  using time_point = lease_clock::time_point;
  using duration = lease_clock::duration;

  /// A new session was granted at `answered`, asked for at `asked`. Its creation is a transaction, proposed by a leader
  /// that knew the session by then.
  void begin(lease_mode mode, duration timeout, duration margin, time_point asked, time_point answered) {
    mode_ = mode;
    timeout_ = timeout;
    margin_ = std::min(margin, timeout / 2);
    proof_ = asked;
    first_ = {asked, answered};
    second_.reset();
  }

  /// The session was taken up again. A leader has heard of it since `asked`, but perhaps one that was deposed and does not
  /// know it. A later leader goes by the timeout with which the session was created, so the least one counts.
  void resume(duration timeout, duration margin, time_point asked, time_point answered) {
    timeout_ = std::min(timeout_, timeout);
    margin_ = std::min(margin, timeout_ / 2);
    if (mode_ == lease_mode::standard) proof_ = std::max(proof_, asked);
    first_ = {asked, answered};
    second_ = first_;  // no report is needed: only that the leader has a quorum is open
  }

  /// A request was answered.
  void acknowledged(time_point sent, time_point answered, witness by) {
    if (mode_ == lease_mode::standard) {
      proof_ = std::max(proof_, sent);
    } else if (by != witness::server) {
      vouch({sent, answered}, by);
    }
  }

  time_point valid_until() const { return proof_ + timeout_ - margin_; }

  /// When the next heartbeat is due, if nothing else is sent, so that the belief goes on.
  time_point heartbeat_due() const {
    if (mode_ == lease_mode::standard) return proof_ + (timeout_ - margin_) / 3;
    return second_ ? second_->answered : first_.answered + gap();
  }

  /// The kind of witness that the answer to the next heartbeat must have.
  witness heartbeat_needs() const {
    if (mode_ == lease_mode::standard) return witness::server;
    return second_ ? witness::quorum : witness::leader;
  }

 private:
  struct exchange {
    time_point sent;
    time_point answered;
  };

  /// Longer than half a tick, which is at most a quarter of the timeout: a tenth more, for unequal clocks and a late ping.
  duration gap() const { return timeout_ * 11 / 40; }

  /// A follower reports its clients' activity to the leader in answer to the leader's ping, once in half a tick. Of three
  /// requests that the leader answered, the second sent a gap after the first was answered, the third after the second
  /// was:
  /// - between its answers to the first two the leader has pinged, and the follower reported before it passed the second
  ///   answer on: its report tells of the first;
  /// - the third reached the leader behind that report.
  /// So the leader had heard of the first when it proposed the third. That a quorum logged the third means that it led
  /// then: any later leader starts afterwards, and gives each session its whole timeout again. (docs/reliability.md tells
  /// what breaks a rule with less.)
  void vouch(const exchange& latest, witness by) {
    if (second_ && by == witness::quorum && latest.sent >= second_->answered) {
      proof_ = std::max(proof_, first_.sent);
      first_ = *std::exchange(second_, std::nullopt);
    }
    if (!second_ && latest.sent >= first_.answered + gap()) second_ = latest;
  }

  lease_mode mode_ = lease_mode::standard;
  duration timeout_{};
  duration margin_{};
  time_point proof_{};  // the ensemble surely knew us when this was sent
  exchange first_{};    // what may become the next proof
  std::optional<exchange> second_;
};

}  // namespace zkrecipes::detail
