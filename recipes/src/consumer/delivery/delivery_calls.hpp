// The calls of `process` in a run.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include <zkrecipes/consumer/message_outcome.hpp>
#include <zkrecipes/consumer/queue_consumer.hpp>
#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/queue_base.hpp>

#include "career/task.hpp"
#include "career/term_state.hpp"
#include "delivery/circuit_breaker.hpp"
#include "delivery/delivery_frame.hpp"
#include "delivery/delivery_repeats.hpp"
#include "delivery/delivery_window.hpp"
#include "delivery/parked_keys.hpp"
#include "delivery/probation.hpp"
#include "limit/arrival_rule.hpp"

namespace zkrecipes::detail {

/// The limit of a consumer's calls in one run.
/// The arithmetic of a `limiter`, without its waiting: a run has its own timer, and one strand. It needs no session.
class delivery_limiter {
 public:
  /// `how` has been checked, and outlives it. `arrival`: when all credit is back. Nothing: there is no credit now.
  /// A level of a term with another rate can be higher than any that this rate gives. It counts as the highest of
  /// those: the longest hold-off, and no credit behind it.
  delivery_limiter(const message_limit& how, std::optional<lease_clock::time_point> arrival,
                   lease_clock::time_point now);

  /// When a call for this message may be made; a moment that is not after `now`: at once.
  lease_clock::time_point due(message_in_hand& which, lease_clock::time_point now);
  /// The call is made.
  void charge(message_in_hand& which, lease_clock::time_point now);
  /// Lets nothing through until then, and a cost of 1 then.
  void hold_off(lease_clock::time_point until);
  /// When all credit is back.
  lease_clock::time_point arrival() const { return time_of(arrival_); }

 private:
  ticks latest_arrival(lease_clock::time_point now) const;
  std::uint64_t cost_of(message_in_hand& which) const;
  ticks ticks_of(lease_clock::time_point when) const { return (when - origin_).count() * ticks_per_nanosecond; }
  lease_clock::time_point time_of(ticks when) const {
    return origin_ + lease_clock::duration(arrival_rule::round_up(when, ticks_per_nanosecond));
  }

  const message_limit& how_;
  arrival_rule rule_;
  lease_clock::time_point origin_;
  ticks arrival_;
};

/// When the calls of a run may be made: its limit, and the hold-offs that messages ask for.
/// The term keeps the level of the limit, because a term can have several runs, and passes it on. On the strand.
class call_limit {
 public:
  call_limit(term_ptr term, delivery_frame& frame) : term_(std::move(term)), frame_(frame) {}

  /// The run begins.
  void take_up();
  bool is_used() const noexcept { return limiter_.has_value(); }
  /// Nothing is known to wait for the limit, so far.
  void forget_waiting() noexcept { limited_until_ = never; }
  /// Whether a call for this message may be made now. If not, it waits for the limit.
  bool lets_through(message_in_hand& next);
  void charge(message_in_hand& which);
  void hold_off(const message_outcome& asked);
  /// A call has ended with another outcome.
  void go_on() noexcept { held_since_ = never; }

  /// Since when each call that has ended has asked for a pause, and why the first of them has; `never`: it is not so.
  lease_clock::time_point held_since() const noexcept { return held_since_; }
  const std::string& held_reason() const noexcept { return held_reason_; }
  /// When a call asked last.
  lease_clock::time_point last_held() const noexcept { return last_held_; }
  /// When the message may be begun that waits for the limit; `never` while none does.
  lease_clock::time_point limited_until() const noexcept { return limited_until_; }
  lease_clock::time_point held_off_until() const noexcept { return held_off_until_; }

 private:
  term_ptr term_;
  delivery_frame& frame_;
  std::optional<delivery_limiter> limiter_;
  lease_clock::time_point limited_until_ = never;
  lease_clock::time_point held_off_until_{};
  lease_clock::time_point held_since_ = never;
  lease_clock::time_point last_held_{};
  std::string held_reason_;
};

// Calls of a consumer's `process`, one after the other.

/// A message of a call, and what has come of it.
struct processed_message {
  std::uint64_t number = 0;  ///< In the window.
  std::shared_ptr<const message> what;
  lease_clock::time_point begun{};  ///< When `process` was called; known once `progress` counts it.
  std::optional<message_outcome> outcome{};
};

/// How far a call is. While more messages are begun than have ended, `process` runs.
struct call_progress {
  std::uint32_t begun = 0;
  std::uint32_t ended = 0;  ///< So many have an outcome, which can be read then.

  bool is_at_work() const noexcept { return begun > ended; }
};

/// `process` for a message, and then for those behind it that it takes along: see `delivery_calls::take_along`.
struct process_call {
  std::vector<processed_message> messages;
  std::size_t taken = 0;  ///< So many outcomes have been taken. The window has the next as begun. Others wait there.
  std::atomic<call_progress> progress{call_progress()};  ///< Written on the executor.
  std::atomic<bool> is_last{false};                      ///< After the present message none is begun any more.
  std::atomic<bool> has_lapsed{false};                   ///< `process` was not called, because the lease had lapsed.
  lease_clock::time_point begun{};
  lease_clock::time_point next_look{};  ///< Whether there are outcomes to be taken before the call ends.
  task_ptr run{};

  std::uint64_t number() const { return messages[taken].number; }
};

using call_ptr = std::shared_ptr<process_call>;

/// Part of a run, which keeps it. On the strand.
class delivery_calls {
 public:
  /// The parts of the run that a call uses. They outlive it.
  struct surroundings {
    delivery_frame& frame;
    delivery_window& window;
    circuit_breaker& breaker;
    probation& watch;
    const parked_keys& parked;
    const delivery_repeats& repeats;
    const delivery_log& log;
    call_limit& limit;
    delivery_news& news;
  };

  /// `process` is called on `executor`, a strand.
  delivery_calls(term_ptr term, asio::any_io_executor executor, const surroundings& of);

  /// Begins the message. `run`: kept until the call has ended.
  void begin(message_in_hand& which, const std::shared_ptr<void>& run);
  /// Takes the outcomes that are there.
  void take_ended(lease_clock::time_point now);
  /// Gives up calls that take too long while another message of their key waits.
  void evict(lease_clock::time_point now);
  /// The term is over and does not wait: all are cancelled. If it stalls, the one that runs longest has failed.
  void cut(bool is_stalled);

  bool empty() const noexcept { return calls_.empty(); }
  /// Whether any runs, also of those that were given up.
  bool is_working() const noexcept { return !calls_.empty() || !given_up_.empty(); }
  /// A call was not made, because the lease had lapsed.
  bool has_lapsed() const noexcept { return has_lapsed_; }
  /// When the oldest call that runs was begun.
  lease_clock::time_point working_since() const;
  /// When the next call is to be given up; `never` if none can be.
  lease_clock::time_point next_eviction() const;
  /// When to look next, after `now`, whether there are outcomes of a call that goes on; `never` if that is not needed.
  lease_clock::time_point next_look(lease_clock::time_point now) const;

  /// Whether a call was begun that has not had its turn on the executor yet.
  bool awaits_turn() const noexcept { return !calls_.empty() && turned_ != begun_; }
  /// Tells the run when all that were begun so far have had their turn.
  void report_turn(const std::shared_ptr<void>& run);

 private:
  using calls = std::list<call_ptr>;

  void take_along(process_call& with);
  bool may_take_along() const;
  static awaitable<void> call(std::shared_ptr<delivery_calls> self, call_ptr which);
  void take_early(process_call& of, lease_clock::time_point now);
  void give_up(calls::iterator which, const char* reason);
  void end_call(process_call& which);
  void take_outcomes(process_call& of, std::size_t ended);
  void take_failure(process_call& of, std::size_t place, std::string reason);
  message_in_hand* begun_message(const process_call& of, std::size_t place);
  void put_back(message_in_hand& which);
  void take_outcome(message_in_hand& which, message_outcome outcome);

  term_ptr term_;
  asio::any_io_executor executor_;
  surroundings of_;
  calls calls_;
  calls given_up_;  // their messages were judged without them, but they run on
  bool is_cut_ = false;
  bool has_lapsed_ = false;
  std::uint64_t begun_ = 0;   // calls
  std::uint64_t turned_ = 0;  // those of them that have had their turn
  bool is_turning_ = false;
};

}  // namespace zkrecipes::detail
