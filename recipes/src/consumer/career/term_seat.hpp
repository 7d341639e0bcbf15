// What entitles a leader to its term.
#pragma once

#include <memory>
#include <string>

#include <zkrecipes/transaction.hpp>

#include "election/term_record.hpp"
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

}  // namespace zkrecipes::detail
