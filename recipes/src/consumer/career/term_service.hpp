// Serves one term: the phases of the career, the hand-over, and the last call.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include <zkrecipes/consumer/consumer_coordinator.hpp>
#include <zkrecipes/consumer/leader_career.hpp>
#include <zkrecipes/log.hpp>

#include "career/task.hpp"
#include "career/term_state.hpp"

namespace zkrecipes::detail {

// The bounds of what a career declares, and of the options of its coordinator.

/// \throws std::invalid_argument naming the field.
void require_within_hour(const char* field, std::chrono::milliseconds value);
/// \throws what `leader_career::traits` throws, and std::invalid_argument naming the field that is out of bounds.
career_traits traits_of(const leader_career& career);

/// On the strand of the session.
class term_service : public std::enable_shared_from_this<term_service> {
 public:
  using phase_listener = std::function<void(coordinator_phase)>;

  /// `career` outlives `run`; it is called on `executor`, a strand. `entered` is told each phase.
  term_service(term_ptr term, leader_career& career, career_traits traits, asio::any_io_executor executor,
               phase_listener entered);

  const term_ptr& term() const noexcept { return term_; }

  /// Completes when the term is over, its seat is given up, and no call of the career runs any more.
  awaitable<void> run();
  /// The term is to end, as `resigned`; `at_once`: calls of the career other than the last ones are cancelled.
  void stop(bool at_once);
  /// For want of memory: the term is over, and the call of the career, which is cancelled, too.
  awaitable<void> abandon();
  /// `listener` is told what the career has thrown, or that it hung before it executed, before the record is written.
  void set_failure_listener(std::function<void(const std::string&)> listener) { on_failure_ = std::move(listener); }
  /// What the career has thrown, if that is the reason why the term ended.
  const std::exception_ptr& failure() const noexcept { return failure_; }
  /// How the record is to say that the term ended: `retired`, or `stalled` if the career did not end in time.
  term_phase end() const noexcept { return end_; }

 private:
  const core_ptr& session() const noexcept { return term_->session(); }
  bool has_lapsed() const { return session()->now() >= term_->seat()->valid_until(); }

  awaitable<void> inaugurate();
  awaitable<void> execute();
  awaitable<void> work();
  awaitable<void> finish();
  void release_guard();
  awaitable<bool> done_in_time();
  /// A call that still runs at `limit` is cancelled.
  awaitable<void> phase_done(lease_clock::time_point limit);
  awaitable<void> phase_done_or_over();
  lease_clock::time_point stall_at(lease_clock::time_point since) const {
    return traits_.stall_limit.count() == 0 || since == never ? never : since + traits_.stall_limit;
  }

  void start(std::function<awaitable<void>(zkrecipes::term)> phase);
  task_ptr in_background(awaitable<void> what);
  void take_failure();
  void on_failure(const std::string& what);
  void cut_short() { cancel(phase_, asio::cancellation_type::terminal); }

  term_ptr term_;
  leader_career& career_;
  const career_traits traits_;
  asio::any_io_executor executor_;
  phase_listener enter_;
  std::function<void(const std::string&)> on_failure_;
  condition changed_;  // the end of a task, a request to stop, or a change of the term
  bool at_once_ = false;
  bool in_last_calls_ = false;  // which `stop` does not cancel
  task_ptr phase_;              // of the career: inaugurate, execute, hand_over or ended
  std::exception_ptr failure_;
  term_phase end_ = term_phase::retired;
};

}  // namespace zkrecipes::detail
