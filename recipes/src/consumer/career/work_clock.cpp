#include "career/work_clock.hpp"

#include <utility>

namespace zkrecipes::detail {

void work_clock::set_since(lease_clock::time_point since) {
  const bool was_idle = std::exchange(since_, since) == never;
  if (was_idle && since != never) changed_.notify();  // the time limit counts from now on
}

std::shared_ptr<void> work_clock::idle(std::shared_ptr<work_clock> self) {
  asio::post(self->session_->strand(), [self] { ++self->idle_; });
  auto work_goes_on = [self](void*) {
    asio::post(self->session_->strand(), [self] {
      self->idle_until_ = self->session_->now();
      if (--self->idle_ == 0) self->changed_.notify();
    });
  };
  return std::shared_ptr<void>(nullptr, work_goes_on);
}

}  // namespace zkrecipes::detail
