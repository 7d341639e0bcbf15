// The work of a consumer in one term: reads messages, has them processed, and settles them.
#pragma once

#include <exception>
#include <memory>

#include <boost/asio/any_io_executor.hpp>

#include "career/term_state.hpp"
#include "delivery/circuit_breaker.hpp"
#include "delivery/delivery_calls.hpp"
#include "delivery/delivery_committer.hpp"
#include "delivery/delivery_frame.hpp"
#include "delivery/delivery_repeats.hpp"
#include "delivery/delivery_window.hpp"
#include "delivery/parked_keys.hpp"
#include "delivery/probation.hpp"
#include "session/background.hpp"
#include "session/core.hpp"

namespace zkrecipes::detail {

/// How a run gets its messages.
/// Part of a run, which keeps it. On the strand.
class delivery_intake {
 public:
  delivery_intake(core_ptr session, delivery_frame& frame, delivery_window& window, probation& watch,
                  parked_keys& parked, delivery_repeats& repeats, delivery_news& news);

  bool is_reading() const noexcept { return is_receiving_ || is_rereading_; }
  /// Receives what there is room for, and reads again what the window misses. `run`: kept meanwhile. `is_idle`: there
  /// is nothing to process or to commit.
  void read_on(const std::shared_ptr<void>& run, bool is_idle);
  void stop();
  /// Drops what was received of keys that were revived, so that it comes again behind what was put back.
  /// `is_committing`: something refers to messages of the window.
  void take_up_revived(bool is_committing);
  /// Somebody else may have moved the position of the source: then what was received and processed before does not
  /// count. `is_busy`: calls run, which are waited for, or a commit does.
  void reopen(bool is_busy);

 private:
  awaitable<void> receive();
  awaitable<void> read_missing();

  core_ptr session_;
  delivery_frame& frame_;
  delivery_window& window_;
  probation& probation_;
  parked_keys& parked_;
  delivery_repeats& repeats_;
  delivery_news& news_;
  // Each is a new one for each reading, because the end of one clears the slot of its signal a moment later.
  background receiver_;
  background rereader_;
  bool is_receiving_ = false;
  bool is_rereading_ = false;
  bool must_open_ = true;  // before anything is received
};

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
  bool expects_more(lease_clock::time_point now);
  awaitable<void> commit();
  void show();

  term_ptr term_;
  delivery_frame_ptr frame_;
  delivery_news news_;
  probation probation_;
  delivery_window window_;
  circuit_breaker breaker_;
  parked_keys parked_;
  delivery_repeats repeats_;
  delivery_log log_;
  call_limit limit_;
  delivery_committer committer_;
  delivery_intake intake_;
  delivery_calls calls_;
  background writer_;  // a new one for each commit, because the end of one clears the slot of its signal a moment later
  bool is_committing_ = false;
  bool is_told_open_ = false;  // to the log: that the breaker is open
  bool is_cut_ = false;
  bool may_not_commit_ = false;  // the last commit has failed for good
  // A commit waits for calls that end without suspending: see `expects_more`.
  lease_clock::time_point commit_by_ = never;
  lease_clock::duration commit_took_{0};
  std::exception_ptr failure_;
};

using delivery_run_ptr = std::shared_ptr<delivery_run>;

}  // namespace zkrecipes::detail
