// What one `shared_balance` object stands for: its run, from membership to membership.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include <zkrecipes/flow/shared_balance.hpp>

#include "balance/pace_membership.hpp"
#include "session/interruption.hpp"

namespace zkrecipes::detail {

class shared_balance_state : public std::enable_shared_from_this<shared_balance_state> {
 public:
  shared_balance_state(core_ptr session, std::string path, shared_balance_options options);

  // From any thread.
  const scheduler_ptr& get_scheduler() const noexcept { return pace_->get_scheduler(); }
  const shared_pace_ptr& pace() const noexcept { return pace_; }
  const std::string& path() const noexcept { return where_->root; }
  const shared_balance_options& options() const noexcept { return options_; }
  shared_balance_status status() const;
  /// Errors: `busy`, and `closed` after `forbid_runs`.
  error_code begin_run();
  void forbid_runs() noexcept { is_forbidden_ = true; }
  std::uint64_t present_run() const noexcept { return runs_; }

  // On the strand.
  awaitable<outcome<>> run(asio::any_io_executor executor);
  void stop(bool at_once);

 private:
  awaitable<error_code> run_memberships();
  awaitable<error_code> join();
  awaitable<outcome<>> try_join();
  awaitable<error_code> serve();
  awaitable<void> rest();
  bool mends(const error_code& error);
  void publish(const error_code& error);

  const shared_balance_options options_;
  const pace_place_ptr where_;
  const std::shared_ptr<condition> changed_;
  const shared_pace_ptr pace_;
  std::shared_ptr<pace_membership> membership_;
  std::shared_ptr<interruption> joining_;
  back_off pause_;
  bool has_worked_ = false;
  int without_limit_ = 0;  // tries in a row that found no limit beside the members
  std::atomic<bool> running_ = false;
  std::atomic<bool> is_forbidden_ = false;
  std::atomic<std::uint64_t> runs_ = 0;
  bool stopping_ = false;

  mutable std::mutex mutex_;  // guards what follows
  bool is_pacer_ = false;
  error_code error_;
  std::string obstacle_;
};

}  // namespace zkrecipes::detail
