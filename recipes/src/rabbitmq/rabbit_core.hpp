// The implementation of an object of RabbitMQ queues: what operators ask, and what they change.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <zkrecipes/queue_base.hpp>
#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "rabbitmq/rabbit_frame.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// Each operation has a connection to the broker of its own, if it needs one.
class rabbit_core : public std::enable_shared_from_this<rabbit_core> {
 public:
  explicit rabbit_core(rabbit_frame_ptr frame) : frame_(std::move(frame)) {}

  const rabbit_frame_ptr& frame() const noexcept { return frame_; }
  const scheduler_ptr& get_scheduler() const noexcept { return frame_->broker.session->get_scheduler(); }

  awaitable<outcome<std::vector<rabbit_depth>>> depths();
  awaitable<outcome<std::vector<dead_letter>>> dead_letters();
  awaitable<outcome<>> revive(dead_letter which);
  awaitable<outcome<>> discard(dead_letter which);

 private:
  rabbit_frame_ptr frame_;
};

}  // namespace zkrecipes::detail
