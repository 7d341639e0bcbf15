#pragma once

#include <utility>

#include "session/interruption.hpp"
#include "session/scheduler.hpp"

namespace zkrecipes::detail {

/// An interruption at a point in time.
class time_limit : public interruption {
 public:
  time_limit(scheduler_ptr on, lease_clock::time_point deadline) : on_(std::move(on)) {
    timer_ = on_->world->call_at(deadline, [this] {
      timer_ = 0;
      interrupt();
    });
  }
  ~time_limit() {
    if (timer_) on_->world->cancel(timer_);
  }

 private:
  scheduler_ptr on_;
  backend::timer_id timer_ = 0;
};

}  // namespace zkrecipes::detail
