// Ends an operation that its user has not cancelled: its deadline has passed, or something that it needs was lost.
#pragma once

#include <memory>
#include <utility>

#include <boost/asio/use_awaitable.hpp>

#include "session/operation.hpp"

namespace zkrecipes::detail {

class interruption {
 public:
  interruption() = default;
  interruption(const interruption&) = delete;

  void interrupt() {
    has_come_ = true;
    signal.emit(asio::cancellation_type::total);
  }
  bool has_come() const noexcept { return has_come_; }

  asio::cancellation_signal signal;

 private:
  bool has_come_ = false;
};

/// Runs `body` until it ends or `by` interrupts it. Then its error is `operation_aborted`, as after a cancellation by
/// the user. `body` has to undo its effects when it is cancelled. On the strand.
template <class... Results>
awaitable<outcome<Results...>> interruptible(scheduler_ptr on, std::shared_ptr<interruption> by,
                                             awaitable<outcome<Results...>> body) {
  auto state = co_await asio::this_coro::cancellation_state;
  const bool is_cancelled = state.cancelled() != asio::cancellation_type::none;
  if (is_cancelled || by->has_come()) {  // before this step: the slots below would miss it
    outcome<Results...> aborted;
    std::get<0>(aborted) = asio::error::operation_aborted;
    co_return aborted;
  }
  const bool may_be_cancelled = state.slot().is_connected();
  if (may_be_cancelled) state.slot().assign([by](asio::cancellation_type type) { by->signal.emit(type); });
  auto result = co_await asio::co_spawn(on->strand, cancellable(std::move(body)),
                                        asio::bind_cancellation_slot(by->signal.slot(), asio::use_awaitable));
  if (may_be_cancelled) state.slot().clear();
  co_return result;
}

}  // namespace zkrecipes::detail
