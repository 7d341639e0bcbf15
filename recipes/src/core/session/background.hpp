// Coroutines that something ends from outside: those in the background for as long as their object is in use, runs
// that are stopped in order, and those that are undone when memory runs out.
#pragma once

#include <exception>
#include <memory>
#include <utility>

#include "session/condition.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// A cancellation by way of `slot` calls `stop` with the object and the type of the cancellation, on the strand.
template <class T, class Stop>
void forward_stop(asio::cancellation_slot slot, std::weak_ptr<T> whose, Stop stop) {
  if (!slot.is_connected()) return;
  // A slot may outlive the context: only one whose object is there is posted to.
  slot.assign([whose = std::move(whose), stop = std::move(stop)](asio::cancellation_type type) {
    auto self = whose.lock();
    if (!self) return;
    auto strand = self->get_scheduler()->strand;
    asio::post(strand, [self = std::move(self), stop, type] { stop(*self, type); });
  });
}

/// Runs `whose->run` on the strand. The coroutine gets no cancellation slot, because a cancelled run has to hand over
/// its terms first: a cancellation calls `whose->stop`, with whether calls of the career are to be cancelled, too. It
/// concerns the run that was begun last (`whose->present_run`), and no later one.
template <class T>
void launch_stoppable(handler_for<void(error_code)> h, std::shared_ptr<T> whose) {
  const auto& on = *whose->get_scheduler();
  forward_stop(asio::get_associated_cancellation_slot(h), std::weak_ptr(whose),
               [run = whose->present_run()](T& self, asio::cancellation_type type) {
                 const bool at_once = (type & asio::cancellation_type::terminal) != asio::cancellation_type::none;
                 if (self.present_run() == run) self.stop(at_once);
               });
  auto target = target_of(h, on);
  auto body = owning(std::move(whose), &T::run, asio::any_io_executor(on.base));
  asio::co_spawn(on.strand, std::move(body), completion<>(on, std::move(h), std::move(target), nullptr));
}

/// Behind the exception that ends a coroutine no other coroutine could be awaited. Awaits `body`. If it fails for want
/// of memory, awaits `undo`, which has its own already; then the failure goes on. If `undo` fails, too, the process
/// ends: what it leaves behind would make others wait.
template <class Result>
awaitable<Result> or_undo(awaitable<Result> body, awaitable<void> undo) {
  std::exception_ptr failure;
  try {
    co_return co_await std::move(body);
  } catch (...) {
    failure = std::current_exception();
  }
  try {
    co_await std::move(undo);
  } catch (...) {
    std::terminate();
  }
  std::rethrow_exception(failure);
}

/// A coroutine that is cancelled when it is no longer needed. On the strand.
class background {
 public:
  /// `stop` cancels `body`. Work that `body` still has to do after that comes behind `ignore_cancellation`.
  void run(const asio::any_io_executor& strand, awaitable<void> body) {
    auto keep = [state = state_](std::exception_ptr failure) {
      rethrow(failure);
    };  // `body` may own us, and uses the signal
    asio::co_spawn(strand, listen(state_, std::move(body)),
                   asio::bind_cancellation_slot(state_->signal.slot(), std::move(keep)));
  }
  void stop() {
    auto keep = state_;
    keep->stopped = true;
    keep->signal.emit(asio::cancellation_type::total);
  }

 private:
  struct state {
    asio::cancellation_signal signal;
    bool stopped = false;
  };
  using state_ptr = std::shared_ptr<state>;

  static awaitable<void> listen(state_ptr state, awaitable<void> body) {
    co_await accept_cancellation();
    if (state->stopped) state->signal.emit(asio::cancellation_type::total);  // `stop` came before we could listen
    co_await std::move(body);
  }

  state_ptr state_ = std::make_shared<state>();
};

inline awaitable<void> ignore_cancellation() {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
}

}  // namespace zkrecipes::detail
