#include "session/turnstile.hpp"

#include <utility>

namespace zkrecipes::detail {

struct turnstile::waiter {
  waiter(turnstile& of, scheduler_ptr on)
      : in(of), at(of.waiting_.insert(of.waiting_.end(), this)), changed(std::move(on)) {}
  waiter(const waiter&) = delete;
  ~waiter() {
    if (!admitted) in.waiting_.erase(at);
  }

  turnstile& in;
  std::list<waiter*>::iterator at;
  condition changed;
  bool admitted = false;
};

awaitable<turnstile::pass> turnstile::enter(scheduler_ptr on) {
  if (free_ > 0) {
    --free_;
    co_return pass(*this);
  }
  waiter self(*this, std::move(on));
  while (!self.admitted) {
    auto why = co_await self.changed.wait();
    if (why == wake::cancelled && !self.admitted) co_return pass();
  }
  co_return pass(*this);
}

void turnstile::leave() {
  if (waiting_.empty()) {
    ++free_;
    return;
  }
  auto* next = waiting_.front();
  waiting_.pop_front();
  next->admitted = true;
  next->changed.notify();
}

}  // namespace zkrecipes::detail
