// One member of a shard group, through the incarnations of its session.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <zkrecipes/consumer/shard_group.hpp>

#include "line/own_node.hpp"
#include "session/outcomes.hpp"
#include "shards/group_frame.hpp"
#include "shards/group_layout.hpp"
#include "shards/group_planner.hpp"
#include "shards/shard_holding.hpp"

namespace zkrecipes::detail {

/// What stands in the node of a member of a group: the planner's orders, and what the member tells of itself.
/// The record of one membership after the other. On the strand.
class own_record {
 public:
  explicit own_record(group_frame_ptr group) : group_(std::move(group)) {}

  /// What we tell of ourselves now.
  member_record present(bool is_draining) const;
  /// The data of the node that we join with.
  std::string begin(bool is_draining);
  void on_joined(own_node_ptr node);
  void on_left() noexcept { node_.reset(); }

  /// Reads what was written since. False: nothing, or no record of ours; the orders before stay then.
  bool read(bool is_draining);
  const shard_orders& orders() const noexcept { return orders_; }
  bool shows_draining() const noexcept { return is_shown_draining_; }

  /// Whether the node does not say what we tell.
  bool is_outdated(bool is_draining) const;
  /// Tells the planner that we want to give everything away, or get nothing, or puts right what somebody else has
  /// written into our node. If somebody writes at the same time, such as the planner, the next try begins with what
  /// that was.
  awaitable<void> write(bool is_draining, back_off& pause);
  /// The time before which there is no further try to write, after a refusal.
  lease_clock::time_point next_write() const noexcept { return write_again_at_; }

 private:
  std::optional<member_record> parse() const;

  group_frame_ptr group_;
  own_node_ptr node_;
  shard_orders orders_;
  std::int64_t orders_written_ = 0;  // of our node, as they were read
  bool is_shown_draining_ = false;
  std::string shown_failing_;
  bool is_garbled_ = false;  // somebody has written something else of us into our node
  lease_clock::time_point write_again_at_{};
};

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
