// The career of the member that plans for all.
#pragma once

#include <mutex>
#include <utility>

#include <zkrecipes/consumer/leader_career.hpp>

#include "shards/group_frame.hpp"

namespace zkrecipes::detail {

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

}  // namespace zkrecipes::detail
