// What stands in the node of a member of a group: the planner's orders, and what the member tells of itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "line/own_node.hpp"
#include "session/back_off.hpp"
#include "shards/group_frame.hpp"
#include "shards/member_record.hpp"

namespace zkrecipes::detail {

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

}  // namespace zkrecipes::detail
