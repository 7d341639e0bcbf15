// Coroutines that work in the background for as long as their object is in use.
#pragma once

#include <exception>
#include <memory>
#include <utility>

#include "session/operation.hpp"

namespace zkrecipes::detail {

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
