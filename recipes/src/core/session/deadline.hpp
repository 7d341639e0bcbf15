// One deadline for all steps of an operation.
#pragma once

#include <memory>
#include <utility>

#include <boost/asio/use_awaitable.hpp>

#include "session/operation.hpp"
#include "session/scheduler.hpp"

namespace zkrecipes::detail {

// Ends an operation that its user has not cancelled: its deadline has passed, or something that it needs was lost.

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

template <class... Results>
awaitable<outcome<Results...>> limited(scheduler_ptr on, lease_clock::time_point deadline,
                                       awaitable<outcome<Results...>> body) {
  auto limit = std::make_shared<time_limit>(on, deadline);
  auto result = co_await interruptible(on, limit, std::move(body));
  if (limit->has_come() && std::get<0>(result) == asio::error::operation_aborted) std::get<0>(result) = errc::timed_out;
  co_return result;
}

/// Runs `body` until the deadline at the latest; then its error is `timed_out`. `body` has to undo its effects when it
/// is cancelled. On the strand.
template <class... Results>
awaitable<outcome<Results...>> with_deadline(scheduler_ptr on, lease_clock::time_point deadline,
                                             awaitable<outcome<Results...>> body) {
  return deadline == never ? std::move(body) : limited(std::move(on), deadline, std::move(body));
}

/// Starts an operation of a public object as `launch` does, with one budget of time.
template <class T, class... Results, class... Params, class... Args>
void launch_within(lease_clock::duration budget, handler_for<void(error_code, Results...)> handler,
                   std::shared_ptr<T> whose, awaitable<outcome<Results...>> (T::*method)(Params...), Args... args) {
  const auto on = whose->get_scheduler();
  auto body = owning(std::move(whose), method, std::move(args)...);
  launch(*on, std::move(handler), with_deadline(on, on->deadline_of(budget), std::move(body)));
}

}  // namespace zkrecipes::detail
