// One member of a shard group, through the incarnations of its session.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include <zkrecipes/consumer/shard_group.hpp>

#include "line/own_node.hpp"
#include "shards/group_frame.hpp"
#include "shards/group_planner.hpp"
#include "shards/own_record.hpp"
#include "shards/shard_holding.hpp"

namespace zkrecipes::detail {

/// It joins by a node of its own, obeys the orders in that node, and joins again when the node is lost. Beside that it
/// stands for election as the planner; the work on the shards never waits for a planner.
class group_member : public std::enable_shared_from_this<group_member> {
 public:
  explicit group_member(group_frame_ptr group);

  const group_frame_ptr& group() const noexcept { return group_; }
  const core_ptr& session() const noexcept { return group_->session; }
  const scheduler_ptr& get_scheduler() const noexcept { return session()->get_scheduler(); }

  // On the strand.
  awaitable<outcome<>> run(asio::any_io_executor executor);
  void stop(bool at_once);
  void drain();

  // From any thread.
  shard_group_status status() const;
  void forbid_runs() noexcept { is_forbidden_ = true; }
  /// Errors: `busy` (there is a run already), `closed` (see `forbid_runs`).
  error_code begin_run(career_factory make);
  std::uint64_t present_run() const noexcept { return runs_; }

 private:
  awaitable<error_code> run_memberships();
  awaitable<error_code> join_unless_stopped();
  awaitable<error_code> join();
  awaitable<void> obey();
  awaitable<void> end_membership();
  awaitable<void> abandon();
  void read_orders();
  void follow_orders();
  void give_all_up(bool at_once);
  void forget_holdings();
  bool is_done() const;
  bool has_waited_enough();
  awaitable<void> leave();
  awaitable<void> rest();
  void publish();

  group_frame_ptr group_;
  career_factory make_;
  asio::any_io_executor executor_;
  condition changed_;  // the member's node, the end of a holding, or a request to stop or drain
  std::shared_ptr<own_node> node_;
  gone_members_ptr gone_;
  std::map<std::uint32_t, shard_holding_ptr> holdings_;
  own_record record_;
  group_planner planner_;
  task_ptr joining_;
  error_code join_error_;
  error_code trouble_;                        // why we can not join
  bool was_planned_for_ = false;              // in this run
  lease_clock::time_point leave_by_ = never;  // whatever becomes of the ends of terms
  bool stopping_ = false;
  bool at_once_ = false;
  bool draining_ = false;
  back_off pause_;
  std::atomic<bool> running_ = false;
  std::atomic<bool> is_forbidden_ = false;
  std::atomic<std::uint64_t> runs_ = 0;

  mutable std::mutex mutex_;
  shard_group_status status_;
  std::vector<shard_holding_ptr> shown_;
};

}  // namespace zkrecipes::detail
