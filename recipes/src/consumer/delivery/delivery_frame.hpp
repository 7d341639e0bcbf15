// What the runs of one consumer share, from term to term.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/consumer/message_outcome.hpp>
#include <zkrecipes/consumer/queue_consumer.hpp>
#include <zkrecipes/consumer/term.hpp>
#include <zkrecipes/log.hpp>

#include "career/term_state.hpp"
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

/// Tells the session's log what keeps messages from being done. Each kind has an operation of its own, because
/// `log_to_stderr` leaves out what is of one kind. Without a hook it does nothing. On the strand.
class delivery_log {
 public:
  delivery_log(const core_ptr& session, const delivery_frame& frame);

  /// All attempts fail, or do so no longer.
  void held_off(bool is_so, const std::string& reason) const;
  /// An attempt has failed, whether it counts or not.
  void attempt_failed(const message& which, const std::string& reason) const;
  /// The message is a dead letter now: its attempts are used up, `process` has asked for that, or its key is parked.
  void parked(const message& which, const std::string& reason) const;
  /// A call of `process` has run for long. Logged once for each message.
  void stands_still(const message& which);

 private:
  void warn(const char* operation, const std::string& detail) const;
  void write_log(session_event event, log_severity severity, const char* operation, const std::string& detail) const;

  log_hook hook_;
  const delivery_frame& frame_;
  std::string still_;  // the name of the message that was told last
};

}  // namespace zkrecipes::detail
