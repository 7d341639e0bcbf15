// The work of a consumer in one term: reads messages, has them processed, and settles them.
#pragma once

#include <cstdint>
#include <exception>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "career/term_state.hpp"
#include "delivery/circuit_breaker.hpp"
#include "delivery/delivery_committer.hpp"
#include "delivery/delivery_frame.hpp"
#include "delivery/delivery_limiter.hpp"
#include "delivery/delivery_log.hpp"
#include "delivery/delivery_repeats.hpp"
#include "delivery/delivery_window.hpp"
#include "delivery/parked_keys.hpp"
#include "delivery/probation.hpp"
#include "delivery/process_call.hpp"
#include "session/background.hpp"

namespace zkrecipes::detail {

class delivery_run : public std::enable_shared_from_this<delivery_run> {
 public:
  /// `process` is called on `executor`, a strand.
  delivery_run(term_ptr term, delivery_frame_ptr frame, asio::any_io_executor executor);

  const scheduler_ptr& get_scheduler() const noexcept { return term_->session()->get_scheduler(); }

  /// Runs until the term ends, and what is in hand has been finished and settled.
  awaitable<outcome<>> run();
  /// The term is over and does not wait: calls of `process` are cancelled. On the strand.
  void cut();
  /// Why `run` has failed with `career_failed`.
  std::exception_ptr failure() const noexcept { return failure_; }

 private:
  bool goes_on() const;
  bool is_over() const;
  bool may_commit() const;
  lease_clock::time_point next_time(lease_clock::time_point now) const;
  void step(lease_clock::time_point now);
  void end_step();
  void begin_messages(lease_clock::time_point now);
  bool begin_or_prepare(message_in_hand& next);
  void take_up_limit();
  bool is_let_through(message_in_hand& next);
  void charge(message_in_hand& which);
  void hold_off(const message_outcome& asked);
  void begin(message_in_hand& which);
  void take_along(process_call& with);
  bool may_take_along() const;
  static awaitable<void> call(std::shared_ptr<delivery_run> self, call_ptr which);
  void end_calls(lease_clock::time_point now);
  void take_early(process_call& of, lease_clock::time_point now);
  void evict_calls(lease_clock::time_point now);
  lease_clock::time_point eviction_of(std::uint64_t number) const;
  lease_clock::time_point next_eviction() const;
  using calls = std::list<call_ptr>;
  void give_up(calls::iterator which, const char* reason);
  lease_clock::time_point working_since() const;
  void end_call(process_call& which);
  void take_outcomes(process_call& of, std::size_t ended);
  void take_failure(process_call& of, std::size_t place, std::string reason);
  message_in_hand* begun_message(const process_call& of, std::size_t place);
  void put_back(message_in_hand& which);
  void take_outcome(message_in_hand& which, message_outcome outcome);
  bool expects_more(lease_clock::time_point now);
  void take_turn();
  void take_up_revived();
  void reopen_source();
  void read_on();
  void stop_reading();
  awaitable<void> receive();
  awaitable<void> read_missing();
  awaitable<void> commit();
  void tell();
  void show();

  term_ptr term_;
  delivery_frame_ptr frame_;
  asio::any_io_executor executor_;
  condition changed_;
  probation probation_;
  delivery_window window_;
  circuit_breaker breaker_;
  parked_keys parked_;
  delivery_repeats repeats_;
  delivery_log log_;
  delivery_committer committer_;
  calls calls_;
  calls given_up_;  // their messages were judged without them, but they run on
  // Each is a new one for each run, because the end of a run clears the slot of its signal a moment later.
  background receiver_;
  background reader_;
  background writer_;
  bool is_receiving_ = false;
  bool is_reading_ = false;
  bool is_committing_ = false;
  bool has_news_ = false;
  bool is_told_open_ = false;  // to the log: that the breaker is open
  bool must_open_ = true;      // before anything is received
  bool is_cut_ = false;
  bool has_lapsed_ = false;      // a call was not made, because the lease had lapsed
  bool may_not_commit_ = false;  // the last commit has failed for good
  lease_clock::time_point held_off_until_{};
  std::optional<delivery_limiter> limiter_;
  lease_clock::time_point limited_until_ = never;  // `never` while nothing waits for the limit
  // A commit waits for calls that end without suspending: see `expects_more`.
  std::uint64_t begun_ = 0;   // calls
  std::uint64_t turned_ = 0;  // those of them that have had their turn
  bool is_turning_ = false;
  lease_clock::time_point commit_by_ = never;
  lease_clock::duration commit_took_{0};
  error_code error_;
  std::exception_ptr failure_;
};

using delivery_run_ptr = std::shared_ptr<delivery_run>;

}  // namespace zkrecipes::detail
