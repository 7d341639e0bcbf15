// The figures of a consumer, for its user and for operators.
#pragma once

#include <mutex>

#include <zkrecipes/consumer/queue_consumer.hpp>

namespace zkrecipes::detail {

/// Thread safety: safe.
class delivery_board {
 public:
  queue_consumer_status read() const {
    std::lock_guard lock(mutex_);
    return status_;
  }
  template <class Change>
  void change(Change&& how) {
    std::lock_guard lock(mutex_);
    how(status_);
  }

 private:
  mutable std::mutex mutex_;
  queue_consumer_status status_;
};

}  // namespace zkrecipes::detail
