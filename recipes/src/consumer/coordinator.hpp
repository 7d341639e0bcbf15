// Campaigns, leads, hands over, and begins again.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <zkrecipes/consumer_coordinator.hpp>

#include "consumer/career_bounds.hpp"
#include "consumer/known_record.hpp"
#include "consumer/task.hpp"
#include "consumer/term_seat.hpp"
#include "consumer/term_state.hpp"

namespace zkrecipes::detail {

class coordinator : public std::enable_shared_from_this<coordinator> {
 public:
  coordinator(core_ptr session, std::string path, consumer_coordinator_options options);

  const core_ptr& session() const noexcept { return session_; }
  const std::string& path() const noexcept { return path_; }
  const consumer_coordinator_options& options() const noexcept { return options_; }

  // On the strand.
  awaitable<outcome<>> run(asio::any_io_executor executor);
  void stop(bool at_once);
  void resign();

  // From any thread.
  coordinator_status status() const;
  std::exception_ptr failure() const;
  /// There will be no other run, because nobody could stop it: the public object has gone.
  void forbid_runs() noexcept { forbidden_ = true; }
  /// Errors: `busy` (there is a run already), `closed` (see `forbid_runs`), `career_failed` (see `traits_of`).
  error_code begin_run(leader_career& career);
  /// The number of the run that was begun last.
  std::uint64_t present_run() const noexcept { return runs_; }

 private:
  struct campaign_result {
    error_code error;
    term_seat_ptr seat;
    std::optional<known_record> known;
  };
  static awaitable<void> campaign(std::shared_ptr<coordinator> self, std::shared_ptr<campaign_result> result);
  awaitable<error_code> run_terms();
  awaitable<campaign_result> run_campaign();
  awaitable<error_code> lead(campaign_result won);
  bool has_lapsed(const term_ptr& term) const;
  awaitable<void> work(term_ptr term);
  awaitable<void> serve(term_ptr term);
  awaitable<void> inaugurate(term_ptr term);
  awaitable<void> execute(term_ptr term);
  awaitable<void> finish(term_ptr term);
  awaitable<bool> done_in_time(term_ptr term);
  awaitable<void> phase_done(term_ptr term);
  awaitable<void> rest(std::chrono::milliseconds length);

  static awaitable<void> watch_seat(term_ptr term);
  static awaitable<void> watch_connection(term_ptr term);
  static awaitable<void> show_phase(term_ptr term, term_phase phase, lease_clock::time_point deadline);
  static awaitable<void> leave(term_ptr term, bool in_time);

  void start(const term_ptr& term, std::function<awaitable<void>(zkrecipes::term)> phase);
  error_code read_traits(leader_career& career);
  void end_run() {
    stopping_ = at_once_ = false;
    running_ = false;
  }
  task_ptr in_background(awaitable<void> what);
  void note_failure(const term_ptr& term);
  void enter(coordinator_phase phase);
  void note_term(const term_record& record);
  void note_ahead(std::optional<std::size_t> ahead);
  void cut_short();

  core_ptr session_;
  std::string path_;
  consumer_coordinator_options options_;
  leader_career* career_ = nullptr;
  career_traits traits_;
  asio::any_io_executor executor_;
  condition changed_;  // a request to stop, the end of a task, or (while we lead) a change of the term
  bool stopping_ = false;
  bool at_once_ = false;
  bool handing_over_ = false;  // in the last calls of a term, which `stop` does not cancel
  std::atomic<bool> running_ = false;
  std::atomic<bool> forbidden_ = false;
  std::atomic<std::uint64_t> runs_ = 0;
  term_ptr term_;
  task_ptr campaign_;
  task_ptr phase_;  // of the career: inaugurate, execute, hand_over or ended

  mutable std::mutex mutex_;
  std::exception_ptr failure_;
  coordinator_status status_;
};

}  // namespace zkrecipes::detail
