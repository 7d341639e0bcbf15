// Waiters whose handlers are about to be called.
#pragma once

#include <utility>
#include <vector>

#include "limit/acquire_waiter.hpp"

namespace zkrecipes::detail {

/// Those that a step has brought to their end. They are told when the mutex is unlocked, because a handler may be run
/// or destroyed on the spot, and its destructor may call the limiter.
class ended_waiters {
 public:
  void add(acquire_waiter_ptr which, error_code why) { all_.emplace_back(std::move(which), why); }
  void complete_all(const scheduler& on) {
    for (auto& [which, why] : all_) complete(on, *which, why);
  }

 private:
  std::vector<std::pair<acquire_waiter_ptr, error_code>> all_;
};

}  // namespace zkrecipes::detail
