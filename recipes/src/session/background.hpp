// What works in the background for as long as an object is wanted.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "session/operation.hpp"

namespace zkrecipes::detail {

/// A coroutine that is told when it is not wanted any more. On the strand.
class background {
 public:
  /// `stop` cancels `body`; what it has left to do then it does behind `ignore_cancellation`.
  void run(const asio::any_io_executor& strand, awaitable<void> body) {
    auto keep = [state = state_](std::exception_ptr) {};  // it may own us, and refers to the signal to its end
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
    if (state->stopped) state->signal.emit(asio::cancellation_type::total);  // before it could hear
    co_await std::move(body);
  }

  state_ptr state_ = std::make_shared<state>();
};

inline awaitable<void> ignore_cancellation() {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
}

/// Pauses after tries that fail: they double, and differ at random, so that nobody runs hot or in step with others.
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
