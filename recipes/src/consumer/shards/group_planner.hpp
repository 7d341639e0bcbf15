// The planner's election, as a member of the group takes part in it.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include <zkrecipes/consumer/leader_career.hpp>
#include <zkrecipes/consumer/shard_group.hpp>

#include "career/consumer_coordinator.hpp"
#include "career/task.hpp"
#include "session/outcomes.hpp"
#include "shards/group_frame.hpp"

namespace zkrecipes::detail {

/// The career of the member that plans for all.
/// All that it writes is fenced by its term, and all that it knows is in ZooKeeper, so there is nothing to hand over.
class planner_career final : public leader_career {
 public:
  explicit planner_career(group_frame_ptr group) : group_(std::move(group)) {}

  /// One call of `execute` plans for the whole term, and none of its waits is without an end.
  career_traits traits() const override {
    return {.hand_over_deadline = std::chrono::milliseconds(0), .stall_limit = std::chrono::milliseconds(0)};
  }
  boost::asio::awaitable<void> inaugurate(term) override { co_return; }
  boost::asio::awaitable<void> execute(term present) override;
  boost::asio::awaitable<void> hand_over(term, term_end) override { co_return; }

  /// Why the plan does not go on at the moment, if we plan. From any thread.
  error_code trouble() const;

 private:
  void record_error(const error_code& error);

  group_frame_ptr group_;
  mutable std::mutex mutex_;
  error_code trouble_;
};

/// The election is that of a coordinator. It runs beside the membership, through all its incarnations, and nobody's
/// work stops because it can not be used. On the strand.
class group_planner {
 public:
  /// `ended`, which outlives it, is notified when the run of the coordinator is over.
  group_planner(group_frame_ptr group, condition& ended);

  /// `owner` owns this object, and is kept until the run is over.
  void start(const std::shared_ptr<void>& owner);
  bool is_started() const noexcept { return task_ != nullptr; }
  awaitable<void> end();

  /// Why the election can not be used. No error while it can.
  error_code failure() const;
  /// Behind a failure: starts anew after a pause.
  void start_again_if_due(const std::shared_ptr<void>& owner);
  /// When it is to be started again; `never` while it runs.
  lease_clock::time_point due() const noexcept { return again_at_; }

  /// From any thread.
  void show_in(shard_group_status& status) const;

 private:
  static awaitable<void> run(std::shared_ptr<group_planner> self);

  group_frame_ptr group_;
  condition& ended_;
  std::shared_ptr<coordinator> coordinator_;
  planner_career career_;
  task_ptr task_;
  error_code error_;
  back_off pause_;
  lease_clock::time_point again_at_ = never;
};

}  // namespace zkrecipes::detail
