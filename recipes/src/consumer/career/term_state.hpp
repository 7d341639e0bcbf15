// One term of leadership: its record, its fence, its end.
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

#include "career/term_seat.hpp"
#include "election/term_record.hpp"
#include "notes/term_notes.hpp"
#include "session/condition.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

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
