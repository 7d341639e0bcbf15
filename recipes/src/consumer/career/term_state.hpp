// One term of leadership: its record, its fence, its end.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/consumer/leader_career.hpp>

#include "career/term_seat.hpp"
#include "election/term_record.hpp"
#include "session/condition.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

class term_state : public std::enable_shared_from_this<term_state> {
 public:
  term_state(term_seat_ptr seat, term_record record, std::int32_t version);

  // From any thread.
  const term_record& record() const noexcept { return record_; }  ///< As the term began: the phase is not updated.
  const term_seat_ptr& seat() const noexcept { return seat_; }
  const core_ptr& session() const noexcept { return seat_->session(); }
  bool ending() const;
  transaction fenced(transaction operations) const;
  std::shared_ptr<void> idle();  ///< See `term::idle`.

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
  /// Notes that a piece of work begins.
  void begin_work();
  /// The same for several pieces at a time: when the oldest began; `never` while there is none.
  void set_work_since(lease_clock::time_point since);
  /// When the present piece of work began, or the last wait for work within it ended; `never` while it waits for work.
  lease_clock::time_point busy_since() const noexcept { return idle_ > 0 ? never : std::max(busy_since_, idle_until_); }
  /// It was told to end (perhaps again), a write of the record is done, or the work does not wait any more.
  condition& changed() noexcept { return changed_; }

  /// What became of a commit. If one operation was refused, `refused` tells which.
  struct commit_result {
    error_code error;
    std::optional<std::size_t> refused{};
  };
  /// Messages that an earlier process died of, perhaps, and that were not judged yet: left to the successor. `in_hand`:
  /// what the record names besides, because it is being processed. It stays named during the hand-over.
  void set_suspects(std::vector<std::string> names, std::vector<std::string> in_hand) {
    suspects_ = std::move(names);
    in_hand_ = std::move(in_hand);
  }
  /// Notes that a message was settled. A term that has settled one and ends cleanly was not brought down by a message.
  /// What `inaugurate` and `hand_over` commit is no progress, because it tells nothing about messages.
  void note_progress();
  bool has_progressed() const noexcept { return has_progressed_; }
  /// Whether it has ended by an exception of the career, or hung before it executed.
  bool has_failed() const;
  /// Deaths are forgotten with the first commit of a term that executes. This does it without one.
  awaitable<void> forget_deaths();
  /// When all credit of the limit of the calls (`message_limit`) is back. A clean hand-over passes it on. Nothing: it
  /// is not known.
  std::optional<lease_clock::time_point> limit_arrival() const noexcept { return limit_arrival_; }
  void set_limit_arrival(std::optional<lease_clock::time_point> when) noexcept {
    limit_arrival_ = when;
    has_all_credit_ = false;
  }
  /// How long it takes until then.
  std::optional<lease_clock::duration> limit_level() const;
  /// Nobody has written the record before this term, and no run of a consumer has begun in it.
  bool has_all_credit() const noexcept { return has_all_credit_; }
  /// As last written, with these messages.
  consumer_notes present_notes() const;
  /// See `term::async_commit`. With `notes`, the same write shows these in the record, if the term is executing; then
  /// `operations` may be empty, and deaths are not forgotten.
  awaitable<commit_result> settle(transaction operations, std::optional<consumer_notes> notes);
  awaitable<outcome<>> commit(transaction operations);
  awaitable<outcome<term_end>> wait_ending();

  /// Writes the phase into the record; with `and_leave` the same transaction gives our seat up. Finds out what became
  /// of lost replies. Phases are written one after the other; a write whose reply was lost is not tried again once the
  /// next phase is to be written.
  /// Errors: `superseded`, `timed_out`, `server_error` (refused until the deadline), or what ended the session.
  awaitable<error_code> publish(term_phase phase, bool and_leave, lease_clock::time_point deadline);

 private:
  awaitable<error_code> write(term_phase phase, bool and_leave, lease_clock::time_point deadline);
  consumer_notes notes_at(term_phase phase) const;
  void count_deaths(term_record& next, term_phase phase) const;
  void note_written(consumer_notes notes, std::int64_t deaths, std::int32_t version);
  transaction fence(const std::optional<consumer_notes>& notes, std::int64_t deaths, bool can_write) const;
  awaitable<error_code> judge_refusal(transaction operations, error_code refusal, back_off& pause);
  awaitable<error_code> rest(const error_code& answer, back_off& pause);
  awaitable<error_code> refresh(std::optional<term_phase>* found, lease_clock::time_point deadline);
  std::int32_t version() const;

  term_seat_ptr seat_;
  term_record record_;
  json_object unknown_fields_;  // of the record as last read: a later version may have added some since
  condition changed_;
  lease_clock::time_point over_since_{};  // set once there is a reason
  bool overtaken_ = false;                // a newer term has been seen
  int idle_ = 0;
  lease_clock::time_point busy_since_{};
  lease_clock::time_point idle_until_{};  // when the last wait within the work ended
  consumer_notes notes_;                  // as last written
  std::int64_t deaths_;                   // as last written
  std::vector<std::string> suspects_;     // see `set_suspects`
  std::vector<std::string> in_hand_;
  std::optional<lease_clock::time_point> limit_arrival_;
  term_phase wanted_ = term_phase::inaugurating;  // the last phase that was to be written
  term_phase shown_ = term_phase::inaugurating;   // the last phase that was written
  bool writing_ = false;
  term_guard_ptr guard_;
  bool has_progressed_ = false;
  bool has_executed_ = false;
  bool has_all_credit_;

  mutable std::mutex mutex_;
  std::int32_t version_;
  std::optional<term_end> reason_;
};

using term_ptr = std::shared_ptr<term_state>;

}  // namespace zkrecipes::detail
