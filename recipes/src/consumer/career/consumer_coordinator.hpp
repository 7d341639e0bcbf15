// Campaigns, leads, hands over, and begins again.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <zkrecipes/consumer/consumer_coordinator.hpp>

#include "career/take_over.hpp"
#include "career/task.hpp"
#include "career/term_service.hpp"

namespace zkrecipes::detail {

class coordinator : public std::enable_shared_from_this<coordinator> {
 public:
  coordinator(core_ptr session, std::string path, consumer_coordinator_options options);

  const core_ptr& session() const noexcept { return session_; }
  const scheduler_ptr& get_scheduler() const noexcept { return session_->get_scheduler(); }
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
  /// One campaign, and the term if it is won.
  struct candidacy {
    error_code error;
    term_seat_ptr seat;
    std::optional<known_record> known;
  };
  static awaitable<void> campaign(std::shared_ptr<coordinator> self, std::shared_ptr<candidacy> one);
  awaitable<error_code> run_terms();
  awaitable<void> campaign_and_lead(std::shared_ptr<candidacy> one);
  awaitable<void> take_over_and_serve(candidacy& won);
  /// For want of memory: nothing of ours stays behind.
  awaitable<void> abandon(std::shared_ptr<candidacy> one);
  awaitable<void> serve(term_ptr term);
  awaitable<void> rest(lease_clock::time_point until);

  error_code read_traits(leader_career& career);
  void end_run() {
    stopping_ = at_once_ = false;
    running_ = false;
  }
  void enter(coordinator_phase phase);
  template <class Change>
  void show(Change&& how);
  void show_term(const term_record& record);
  void show_ahead(std::optional<std::size_t> ahead);

  core_ptr session_;
  std::string path_;
  consumer_coordinator_options options_;
  leader_career* career_ = nullptr;
  career_traits traits_;
  asio::any_io_executor executor_;
  condition changed_;  // a request to stop, or the end of a campaign or of a task
  bool stopping_ = false;
  bool at_once_ = false;
  bool has_worked_ = false;  // this run has been in line
  std::atomic<bool> running_ = false;
  std::atomic<bool> forbidden_ = false;
  std::atomic<std::uint64_t> runs_ = 0;
  task_ptr campaign_;
  std::shared_ptr<term_service> service_;  // while we lead

  mutable std::mutex mutex_;
  std::exception_ptr failure_;
  coordinator_status status_;
};

}  // namespace zkrecipes::detail
