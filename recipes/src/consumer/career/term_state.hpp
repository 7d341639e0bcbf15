// One term of leadership: what entitles to it, its record, its fence, its end.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <zkrecipes/consumer/leader_career.hpp>
#include <zkrecipes/transaction.hpp>

#include "election/term_record.hpp"
#include "notes/consumer_notes.hpp"
#include "session/condition.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

using watch_ptr = std::unique_ptr<watch>;

/// The seat of a leader: it says where the record of the term is, and whether the leader may still believe that it
/// leads. It ends once, for one reason.
class term_seat {
 public:
  virtual ~term_seat() = default;

  // From any thread.
  virtual const core_ptr& session() const noexcept = 0;
  virtual const std::string& record_path() const noexcept = 0;
  /// The node of the session that others take for our place; empty if there is none.
  virtual std::string node_path() const { return {}; }
  /// Why the seat has ended; no error as long as it is good, as far as we know.
  virtual error_code lost() const = 0;
  /// Until when the seat may be believed to be good if no further answer of a server comes.
  virtual lease_clock::time_point valid_until() const = 0;

  // On the strand.
  /// The incarnation of the session that it is bound to.
  virtual const incarnation_ptr& bound() const noexcept = 0;
  /// Whether another client has asked the leader to give the seat up.
  virtual bool revoked() const = 0;
  /// Notified when the seat was lost, or another client has asked for it.
  virtual condition& changed() noexcept = 0;

  /// Whether the leader before had gone when we got the seat.
  virtual bool comes_after_its_leader() const { return true; }
  /// Watches the leader of this unfinished term; null if it has gone for good. Only then its hand-over deadline counts.
  virtual awaitable<outcome<watch_ptr>> watch_leader(const term_record& of, condition& changed) = 0;
  /// Names the holder of this seat in the record of the term that is to follow `before`.
  /// `before_ms`: when that was last written, by the servers' clock; 0: it is not known.
  virtual void sign(term_record& record, const term_record& before, std::int64_t before_ms) const = 0;
  /// Whether `term_record::began_ms` and `history` are kept.
  virtual bool keeps_history() const { return false; }
  /// The term of this record, which is ours, ends by a failure of its career.
  virtual void record_failure(term_record&) const {}
  /// Why the term must not begin, if so. `busy`: not before `take_turn`.
  virtual error_code objection(const term_record& next) = 0;
  /// Whether the term may begin now; `turn_changed` is notified when to ask again.
  virtual bool take_turn() { return true; }
  virtual condition& turn_changed() { return changed(); }
  /// The term can not begin for now: others may take the turn.
  virtual void pass_turn() {}
  /// The term of this record has begun, by the transaction with this number, at this time of the servers' clock.
  virtual void on_begun(term_record& record, std::int64_t zxid, std::int64_t time) = 0;
  /// Whether the record names the holder of this seat.
  virtual bool has_signed(const term_record& record) const = 0;
  /// Adds an operation that fails with `no_node` if the seat is gone when the servers execute it.
  virtual void add_check(transaction& all) const = 0;
  /// Adds an operation that gives the seat up, and fails with `no_node` if it is gone already.
  virtual void add_leave(transaction& all) const = 0;
  /// Shows operators that the holder waits for a predecessor that is gone.
  virtual awaitable<void> show_waiting() = 0;

  /// Gives the seat up; waits until a server has confirmed that, unless cancelled.
  virtual awaitable<outcome<>> leave() = 0;
  /// A transaction is about to give the seat up (`add_leave`): from now on it does not count as ours. Call `clear_away`
  /// afterwards.
  virtual void disown() = 0;
  /// Removes in the background what the transaction has left; `all`: it may have left everything.
  virtual void clear_away(bool all) = 0;
};

using term_seat_ptr = std::shared_ptr<term_seat>;

/// For how long the present piece of a career's work goes on: `career_traits::stall_limit` bounds it.
/// On the strand, but for `idle`.
class work_clock {
 public:
  /// `changed`, which outlives it, is notified when the work does not wait any more.
  work_clock(core_ptr session, condition& changed) : session_(std::move(session)), changed_(changed) {}

  /// A piece of work begins.
  void begin() { since_ = session_->now(); }
  /// The same for several pieces at a time: when the oldest began; `never` while there is none.
  void set_since(lease_clock::time_point since);
  /// When the present piece of work began, or the last wait for work within it ended; `never` while it waits for work.
  lease_clock::time_point busy_since() const noexcept { return idle_ > 0 ? never : std::max(since_, idle_until_); }
  /// See `term::idle`. From any thread.
  static std::shared_ptr<void> idle(std::shared_ptr<work_clock> self);

 private:
  core_ptr session_;
  condition& changed_;
  int idle_ = 0;
  lease_clock::time_point since_{};
  lease_clock::time_point idle_until_{};  // when the last wait within the work ended
};

// What an exception of a career says of its term.

/// Whether the exception is one by which an operation reports the end of the term, the session or the connection.
bool is_end_of_term(const std::exception_ptr& failure);
/// The text of an exception that a career has thrown.
std::string text_of(const std::exception_ptr& failure);

class term_state : public std::enable_shared_from_this<term_state> {
 public:
  term_state(term_seat_ptr seat, term_record record, std::int32_t version);

  // From any thread.
  const term_record& record() const noexcept { return record_; }  ///< As the term began: the phase is not updated.
  const term_seat_ptr& seat() const noexcept { return seat_; }
  const core_ptr& session() const noexcept { return seat_->session(); }
  bool ending() const;
  transaction fenced(transaction operations) const;

  // On the strand.
  /// Keeps the guardian told of this term until it is over. `guardian_client::hold` makes the guard.
  void set_guard(term_guard_ptr guard) { guard_ = std::move(guard); }
  /// Whether the record is known to say that the term is over.
  bool is_finished() const noexcept { return shown_ == term_phase::retired || shown_ == term_phase::stalled; }
  bool is_executing() const noexcept { return shown_ == term_phase::executing && wanted_ == term_phase::executing; }
  bool has_deaths() const noexcept { return deaths_ > 0; }
  std::optional<term_end> reason() const;
  void end(term_end reason);  ///< The first reason counts.
  /// The time by which all calls of the career have to be over once the term is to end, because a successor that finds
  /// us gone begins then. It is counted from when the term was to end, or from the end of the lease if we noticed that
  /// late. It is in the past if a newer term is known to have begun.
  lease_clock::time_point end_by() const;
  work_clock& work() noexcept { return work_; }
  /// What the consumers of this term note in its record.
  term_notes& notes() noexcept { return notes_; }
  /// It was told to end (perhaps again), a write of the record is done, or the work does not wait any more.
  condition& changed() noexcept { return changed_; }

  /// What became of a commit. If one operation was refused, `refused` tells which.
  struct commit_result {
    error_code error;
    std::optional<std::size_t> refused{};
  };
  /// Whether it has ended by an exception of the career, or hung before it executed.
  bool has_failed() const;
  /// Deaths are forgotten with the first commit of a term that executes. This does it without one.
  awaitable<void> forget_deaths();
  /// See `term::async_commit`. With `notes`, the same write shows these in the record, if the term is executing; then
  /// `operations` may be empty, and deaths are not forgotten.
  awaitable<commit_result> settle(transaction operations, std::optional<json_object> notes);
  awaitable<outcome<>> commit(transaction operations);
  awaitable<outcome<term_end>> wait_ending();

  /// Writes the phase into the record; with `and_leave` the same transaction gives our seat up. Finds out what became
  /// of lost replies. Phases are written one after the other; a write whose reply was lost is not tried again once the
  /// next phase is to be written.
  /// Errors: `superseded`, `timed_out`, `server_error` (refused until the deadline), or what ended the session.
  awaitable<error_code> publish(term_phase phase, bool and_leave, lease_clock::time_point deadline);

 private:
  awaitable<error_code> write(term_phase phase, bool and_leave, lease_clock::time_point deadline);
  void count_deaths(term_record& next, term_phase phase) const;
  transaction fence(const std::optional<json_object>& notes, std::int64_t deaths, bool can_write) const;
  awaitable<error_code> refresh(std::optional<term_phase>* found, lease_clock::time_point deadline);

  term_seat_ptr seat_;
  term_record record_;
  json_object unknown_fields_;  // of the record as last read: a later version may have added some since
  condition changed_;
  lease_clock::time_point over_since_{};  // set once there is a reason
  bool overtaken_ = false;                // a newer term has been seen
  work_clock work_;
  term_notes notes_;
  std::int64_t deaths_;                           // as last written
  term_phase wanted_ = term_phase::inaugurating;  // the last phase that was to be written
  term_phase shown_ = term_phase::inaugurating;   // the last phase that was written
  bool writing_ = false;
  term_guard_ptr guard_;
  bool has_executed_ = false;
  std::atomic<std::int32_t> version_;

  mutable std::mutex mutex_;
  std::optional<term_end> reason_;
};

using term_ptr = std::shared_ptr<term_state>;

}  // namespace zkrecipes::detail
