// How far the life of a session has come: its state, its incarnation, its end. `core` takes its decisions; its parts
// see here what has been decided.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/error.hpp>
#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/session.hpp>
#include <zkrecipes/session_options.hpp>

#include "backend/link.hpp"
#include "session/condition.hpp"
#include "session/log.hpp"

namespace zkrecipes::detail {

/// The party that surely took part in an answer: just the server that gave it, the leader, or a quorum that logged a
/// transaction.
enum class witness { server, leader, quorum };

/// Computes until when we may believe that the ensemble knows our session. Pure arithmetic on times that it is given.
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

// What any thread may ask of a session: its status, its counters and its lease. Written on the strand.

/// One ZooKeeper session among those that a session object has during its life.
struct incarnation {
  std::uint64_t number = 0;
  backend::session_key key;
  std::int64_t seen = 0;                ///< The last transaction (zxid) that a server has shown us.
  error_code ended;                     ///< Why it is over: `session_expired` or `closed`.
  lease_clock::time_point lease_end{};  ///< Once it is over: until when its lease would have lasted.
};

using incarnation_ptr = std::shared_ptr<incarnation>;

class session_facts {
 public:
  session_facts(scheduler_ptr on, const session_options& options);

  // From any thread.
  session_status status() const;
  session_counters counters() const;
  /// The end of the lease. The clock's zero if there is no lease, or if the present incarnation does not have this
  /// number (0: any incarnation).
  lease_clock::time_point valid_until(std::uint64_t number = 0) const;
  /// No error until `valid_until`, by the clock of this moment; else why it is past.
  error_code invalid(std::uint64_t number) const;

  // On the strand.
  /// Counts one event, or several. Returns how many there have been.
  std::uint64_t count(std::uint64_t session_counters::*which, std::uint64_t by = 1);
  /// `present`: null if there is no incarnation.
  void enter(session_state state, const error_code& reason, const incarnation* present, std::string server);
  void show_failures(std::vector<connection_failure> all);
  /// A server has answered a request. True if the lease was over and holds again.
  bool acknowledged(lease_clock::time_point sent, witness by);
  const lease& present_lease() const noexcept { return lease_; }

 protected:
  ~session_facts() = default;
  void show_guarded(bool is_held);
  /// A server has granted the session that was requested at `asked`. A new incarnation gets its number here.
  void on_granted(incarnation& present, bool is_new, lease_clock::time_point asked);
  /// The user closes the session: no lease is valid any more.
  void give_up_lease();

 private:
  scheduler_ptr scheduler_;
  lease_mode mode_;
  std::chrono::milliseconds margin_;  // 0: a tenth of the timeout

  mutable std::mutex mutex_;  // guards all below
  session_status status_;
  session_counters counters_;
  lease lease_;
  bool given_up_ = false;
};

class session_life : public session_facts, public std::enable_shared_from_this<session_life> {
 public:
  session_life(scheduler_ptr on, session_options options);

  // From any thread.
  const asio::any_io_executor& strand() const noexcept { return scheduler_->strand; }
  const scheduler_ptr& get_scheduler() const noexcept { return scheduler_; }
  const session_options& options() const noexcept { return options_; }

  // On the strand.
  lease_clock::time_point now() const { return scheduler_->now(); }
  error_code ended() const noexcept { return ended_; }  ///< `closed` or `auth_failed`, once it is over for good.
  /// Like `ended`, but `closed` already from the moment when the close was requested.
  error_code over() const noexcept { return closing_ && !ended_ ? make_error_code(errc::closed) : ended_; }
  bool closing() const noexcept { return closing_; }
  condition& changed() noexcept { return changed_; }  ///< The status changed.
  incarnation_ptr current() const noexcept { return incarnation_; }
  session_log& log() noexcept { return log_; }

  /// Like everything that draws random numbers from the world.
  std::string make_guid() const;

  void enter(session_state state, const error_code& reason, std::string server = {});

 protected:
  ~session_life() = default;
  std::vector<credentials> take_digest();
  void begin_incarnation() { incarnation_ = std::make_shared<incarnation>(); }
  /// False: it was over before, or there is none.
  bool end_incarnation(const error_code& reason);
  void forget_incarnation() noexcept { incarnation_.reset(); }
  /// False: that was done before.
  bool begin_close() noexcept { return !std::exchange(closing_, true); }
  void end_life(const error_code& reason) noexcept { ended_ = reason; }

 private:
  scheduler_ptr scheduler_;
  session_options options_;
  session_log log_;
  bool closing_ = false;
  error_code ended_;
  incarnation_ptr incarnation_;
  condition changed_;
};

}  // namespace zkrecipes::detail
