// The timer of a line of waiters. There is none while nobody waits.
#pragma once

#include <functional>
#include <memory>

#include "limit/limit_clock.hpp"

namespace zkrecipes::detail {

/// `set` and `clear` come from any thread, and act on the strand in the order of the calls.
class line_timer : public std::enable_shared_from_this<line_timer> {
 public:
  /// `what` is called on the strand. It must not own the timer.
  line_timer(limit_clock clock, std::function<void()> what) : clock_(std::move(clock)), what_(std::move(what)) {}

  void set(ticks when);
  void clear() { set(no_ticks_limit); }
  /// At once. Only when the context shuts down: nothing else runs then.
  void drop();

 private:
  void start(ticks when);

  limit_clock clock_;
  std::function<void()> what_;
  backend::timer_id id_ = 0;
};

}  // namespace zkrecipes::detail
