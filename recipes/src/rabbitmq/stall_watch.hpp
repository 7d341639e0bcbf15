// Notices that the broker has forgotten a consumer.
#pragma once

#include <zkrecipes/lease_clock.hpp>

namespace zkrecipes::detail {

/// RabbitMQ 3.10 can lose a consumer when the leader of its queue changes: the connection stays, and nothing comes. So
/// when nothing has happened for a while, the queue is looked at. If it has messages that could be delivered, at two
/// looks in a row with as long a while between them, in which nothing has happened either, the consumer is lost. It is
/// not asked while the consumer has all messages that it may have. It does no I/O.
class stall_watch {
 public:
  explicit stall_watch(lease_clock::duration time_limit) : time_limit_(time_limit) {}

  /// A message has come, or was acknowledged, or the connection is new.
  void on_event(lease_clock::time_point now) {
    next_look_ = now + time_limit_;
    looks_ = 0;
  }
  lease_clock::time_point next_look() const noexcept { return next_look_; }
  /// The answer to a look.
  void on_look(lease_clock::time_point now, bool has_messages) {
    next_look_ = now + time_limit_;
    looks_ = has_messages ? looks_ + 1 : 0;
  }
  bool is_stalled() const noexcept { return looks_ >= 2; }

 private:
  lease_clock::duration time_limit_;
  lease_clock::time_point next_look_{};
  int looks_ = 0;  // in a row that have found messages
};

}  // namespace zkrecipes::detail
