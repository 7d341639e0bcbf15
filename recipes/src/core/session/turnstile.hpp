// Lets only a limited number of coroutines through at the same time, first come, first served. On the strand only.
#pragma once

#include <cstddef>
#include <list>
#include <utility>

#include "session/condition.hpp"

namespace zkrecipes::detail {

class turnstile {
 public:
  explicit turnstile(std::size_t width) : free_(width) {}

  /// Lets the next coroutine through when it is destroyed.
  class pass {
   public:
    pass() = default;
    explicit pass(turnstile& of) : of_(&of) {}
    pass(pass&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
    pass& operator=(pass&&) = delete;
    ~pass() {
      if (of_) of_->leave();
    }
    explicit operator bool() const noexcept { return of_ != nullptr; }

   private:
    turnstile* of_ = nullptr;
  };

  /// Waits for a pass; empty if the wait was cancelled. The pass must not outlive the turnstile.
  awaitable<pass> enter(scheduler_ptr on);

 private:
  struct waiter;
  void leave();

  std::size_t free_;
  std::list<waiter*> waiting_;
};

}  // namespace zkrecipes::detail
