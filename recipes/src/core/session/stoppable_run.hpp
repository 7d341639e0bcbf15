// Starts the run of an object that a cancellation stops in order.
#pragma once

#include <memory>
#include <utility>

#include "session/operation.hpp"

namespace zkrecipes::detail {

/// Runs `whose->run` on the strand. The coroutine gets no cancellation slot, because a cancelled run has to hand over
/// its terms first: a cancellation calls `whose->stop`, with whether calls of the career are to be cancelled, too. It
/// concerns the run that was begun last (`whose->present_run`), and no later one.
template <class T>
void launch_stoppable(handler_for<void(error_code)> h, std::shared_ptr<T> whose) {
  const auto& on = *whose->get_scheduler();
  auto slot = asio::get_associated_cancellation_slot(h);
  if (slot.is_connected()) {
    const auto run = whose->present_run();
    // A slot may outlive the context: only one whose object is there is posted to.
    slot.assign([weak = std::weak_ptr(whose), run](asio::cancellation_type type) {
      auto self = weak.lock();
      if (!self) return;
      const bool at_once = (type & asio::cancellation_type::terminal) != asio::cancellation_type::none;
      auto strand = self->get_scheduler()->strand;
      asio::post(strand, [self = std::move(self), run, at_once] {
        if (self->present_run() == run) self->stop(at_once);
      });
    });
  }
  auto target = target_of(h, on);
  auto body = owning(std::move(whose), &T::run, asio::any_io_executor(on.base));
  asio::co_spawn(on.strand, std::move(body), completion<>(on, std::move(h), std::move(target), nullptr));
}

}  // namespace zkrecipes::detail
