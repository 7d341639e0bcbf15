// Computes until when we may believe that the ensemble knows our session. Pure arithmetic on times that it is given.
#pragma once

#include <optional>

#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/session_options.hpp>

namespace zkrecipes::detail {

/// The party that surely took part in an answer: just the server that gave it, the leader, or a quorum that logged a
/// transaction.
enum class witness { server, leader, quorum };

class lease {
 public:
  using time_point = lease_clock::time_point;
  using duration = lease_clock::duration;

  /// A new session was requested at `asked` and granted at `answered`. Its creation is a transaction, and the leader
  /// knew the session before it proposed this transaction.
  void begin(lease_mode mode, duration timeout, duration margin, time_point asked, time_point answered);

  /// The session was taken up again. A leader has heard of it since `asked`, but perhaps a deposed leader that has not
  /// noticed. A new leader uses the timeout with which the session was created, so the smallest timeout counts.
  void resume(duration timeout, duration margin, time_point asked, time_point answered);

  /// A request was answered.
  void acknowledged(time_point sent, time_point answered, witness by);

  time_point valid_until() const { return proof_ + timeout_ - margin_; }

  /// When the next heartbeat has to be sent to prolong the lease, if no other request is sent.
  time_point heartbeat_due() const;

  /// The time between two heartbeats of a session that sends nothing else.
  duration interval() const { return (timeout_ - margin_) / 3; }

  /// The kind of witness that the answer to the next heartbeat must have.
  witness heartbeat_needs() const;

 private:
  struct exchange {
    time_point sent;
    time_point answered;
  };

  /// Longer than half a tick. Half a tick is at most a quarter of the timeout; a tenth is added for unequal clocks and
  /// a late ping.
  duration gap() const { return timeout_ * 11 / 40; }

  /// A follower reports its clients' activity to the leader in answer to the leader's ping, once in half a tick. Take
  /// three requests that the leader answered: the second was sent a gap after the first was answered, the third after
  /// the second was answered.
  /// - Between its answers to the first two the leader has sent a ping. The follower sent its report before it passed
  ///   the second answer on, so the report tells of the first request.
  /// - The third request reached the leader behind that report.
  /// So the leader had heard of the first request when it proposed the third. A quorum has logged the third, so the
  /// leader still led then: any later leader starts afterwards, and gives each session its whole timeout again.
  /// (docs/reliability.md shows how a weaker rule fails.)
  void record_proof(const exchange& latest, witness by);

  lease_mode mode_ = lease_mode::standard;
  duration timeout_{};
  duration margin_{};
  time_point proof_{};  // when the latest request was sent that proves that we live
  exchange first_{};    // the request that may become the next proof
  std::optional<exchange> second_;
};

}  // namespace zkrecipes::detail
