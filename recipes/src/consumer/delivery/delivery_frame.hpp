// What the runs of one consumer share, from term to term.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/consumer/message_outcome.hpp>
#include <zkrecipes/consumer/queue_consumer.hpp>
#include <zkrecipes/consumer/term.hpp>

#include "delivery/message_source.hpp"
#include "session/condition.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// What the parts of a run tell it.
/// On the strand.
struct delivery_news {
  explicit delivery_news(scheduler_ptr on) : changed(std::move(on)) {}

  /// A coroutine that was started may end before the start returns, when nobody waits for the notification yet.
  void notify() {
    is_there = true;
    changed.notify();
  }

  condition changed;
  bool is_there = false;
  error_code error{};  ///< The run is to end with it.
};

/// The figures of a consumer, for its user and for operators.
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

struct delivery_frame {
  source_ptr source;
  queue_consumer_options options;
  /// The message is kept until the call has ended.
  std::function<boost::asio::awaitable<message_outcome>(zkrecipes::term, const message&)> process;
  delivery_board board;
};

using delivery_frame_ptr = std::shared_ptr<delivery_frame>;

}  // namespace zkrecipes::detail
