// What the parts of a run tell it.
#pragma once

#include "session/condition.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

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

}  // namespace zkrecipes::detail
