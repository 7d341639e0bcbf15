// Coroutines that work in the background for as long as their object is in use.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "session/operation.hpp"

namespace zkrecipes::detail {

/// A coroutine that is cancelled when it is no longer needed. On the strand.
class background {
 public:
  /// `stop` cancels `body`. Work that `body` still has to do after that comes behind `ignore_cancellation`.
  void run(const asio::any_io_executor& strand, awaitable<void> body) {
    auto keep = [state = state_](std::exception_ptr) {};  // `body` may own us, and uses the signal until it ends
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

/// The pauses after failed tries. They double and have a random part, so that no client runs in a busy loop or in step
/// with others.
class back_off {
 public:
  using milliseconds = std::chrono::milliseconds;
  back_off(milliseconds first, milliseconds most) : first_(first), most_(most) {}

  void reset() { pause_ = milliseconds(0); }
  /// The end of the pause that begins now.
  lease_clock::time_point next(const scheduler& on) {
    pause_ = std::clamp(pause_ * 2, first_, most_);
    const auto jitter = milliseconds(on.world->random() % (static_cast<std::uint64_t>(pause_.count()) + 1));
    return on.now() + pause_ / 2 + jitter;
  }

 private:
  milliseconds first_;
  milliseconds most_;
  milliseconds pause_{0};
};

}  // namespace zkrecipes::detail
