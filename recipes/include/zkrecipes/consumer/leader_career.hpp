// The career of a leader, which the user implements (inaugurate, execute, hand over), and its terms.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/consumer/term.hpp>
#include <zkrecipes/detail/initiate.hpp>
#include <zkrecipes/election.hpp>
#include <zkrecipes/error.hpp>
#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/session.hpp>
#include <zkrecipes/transaction.hpp>

namespace zkrecipes {

/// The properties of a career, which it declares before its first term.
struct career_traits {
  /// Time that the message in hand and `hand_over` may need together. It counts from when the term is to end, or from
  /// the end of the lease if we notice that late. Work that still runs when it is over is cancelled (`terminal`). A
  /// successor that finds us gone without a confirmation waits this long before it takes over. Zero is suitable if all
  /// effects are fenced: no successor waits, and the end of a term takes up to the session's timeout. 0 to 1 h.
  std::chrono::milliseconds hand_over_deadline{10'000};
  /// How long calls that this career has already sent to other services may still act there once its process has died.
  /// A successor that finds the term `died` does not wait for `hand_over_deadline`, because the process does nothing
  /// more; it waits this long, counted from when it has first seen that. Zero is suitable if all effects are fenced.
  /// 0 to 1 h.
  std::chrono::milliseconds aftermath{0};
  /// True: when the term is to end, `execute` returns by itself (up to the deadline). False: it is cancelled at once
  /// (`terminal`).
  bool finish_message_in_hand = true;
  /// Longest time that one call of `inaugurate` or `execute` may work; `term::idle` tells when it waits for work, or
  /// for the end of the term. After that the term ends as stalled, so that a call that hangs stops the service for a
  /// while only. `ended` is cancelled after as long. Zero: no limit. 0 to 1 h.
  std::chrono::milliseconds stall_limit{std::chrono::minutes(5)};
  /// True: go on without a connection until the lease ends. False: end the term when the connection breaks.
  bool work_while_suspended = true;
};

/// Implemented by the user. The calls run one at a time, on a strand of the session's executor
/// (`session::get_executor`). They must not block the thread. An exception ends the term as `failed` and the run with
/// `career_failed`, also while the term is ending. Two kinds of exceptions are not failures: those of a call that was
/// cancelled, and, once the term is over, those that carry the error by which an operation reports this (`superseded`,
/// `connection_loss`, `outcome_unknown`, `operation_aborted`, those of `is_loss` and `is_fatal`).
class leader_career {
 public:
  virtual ~leader_career() = default;

  virtual career_traits traits() const { return {}; }

  /// Prepare: load state, open connections. No other term executes, under the conditions of docs/hand-over.md.
  virtual boost::asio::awaitable<void> inaugurate(term present) = 0;

  /// One piece of work; called again and again until the term ends. It should wait for work asynchronously, hold
  /// `term::idle` meanwhile (see `career_traits::stall_limit`), and return when `term::async_ending` completes.
  virtual boost::asio::awaitable<void> execute(term present) = 0;

  /// Leave everything in order for the successor, which starts when this returns. It is called as soon as the call
  /// before has returned. It is not called if that is past the deadline, or if a newer term has begun.
  virtual boost::asio::awaitable<void> hand_over(term present, term_end reason) = 0;

  /// The last call of every term whose inauguration was begun, whatever was skipped or cut short before: nothing else
  /// of this term runs any more. A successor may be at work already: release your own resources, and leave shared ones
  /// alone. The next campaign, and the end of the run, wait for this call; it is cancelled (`terminal`) only after
  /// `career_traits::stall_limit`. A call that ignores its cancellation delays `ended`; code that has to know at once
  /// uses `term::async_ending`.
  virtual boost::asio::awaitable<void> ended(term present, term_end reason);
};

}  // namespace zkrecipes
