// One budget of time for an operation of many steps.
#pragma once

#include <memory>
#include <utility>

#include <boost/asio/use_awaitable.hpp>

#include "session/operation.hpp"

namespace zkrecipes::detail {

/// A timer that cancels with everything that listens to its signal.
class time_limit {
 public:
  time_limit(scheduler_ptr on, lease_clock::time_point deadline) : on_(std::move(on)) {
    timer_ = on_->world->call_at(deadline, [this] {
      timer_ = 0;
      passed_ = true;
      signal.emit(asio::cancellation_type::total);
    });
  }
  time_limit(const time_limit&) = delete;
  ~time_limit() {
    if (timer_) on_->world->cancel(timer_);
  }
  bool passed() const noexcept { return passed_; }

  asio::cancellation_signal signal;

 private:
  scheduler_ptr on_;
  backend::timer_id timer_ = 0;
  bool passed_ = false;
};

template <class... Results>
awaitable<outcome<Results...>> limited(scheduler_ptr on, lease_clock::time_point deadline,
                                       awaitable<outcome<Results...>> body) {
  auto limit = std::make_shared<time_limit>(on, deadline);
  auto state = co_await asio::this_coro::cancellation_state;
  if (state.cancelled() != asio::cancellation_type::none) {  // heard between two steps: nothing else would tell this one
    outcome<Results...> aborted;
    std::get<0>(aborted) = asio::error::operation_aborted;
    co_return aborted;
  }
  const bool may_be_cancelled = state.slot().is_connected();
  if (may_be_cancelled) state.slot().assign([limit](asio::cancellation_type type) { limit->signal.emit(type); });
  auto result = co_await asio::co_spawn(on->strand, cancellable(std::move(body)),
                                        asio::bind_cancellation_slot(limit->signal.slot(), asio::use_awaitable));
  if (may_be_cancelled) state.slot().clear();
  if (limit->passed() && std::get<0>(result) == asio::error::operation_aborted) std::get<0>(result) = errc::timed_out;
  co_return result;
}

/// Runs `body`, which a cancellation undoes, no longer than to the deadline; then its error is `timed_out`. On the strand.
template <class... Results>
awaitable<outcome<Results...>> with_deadline(scheduler_ptr on, lease_clock::time_point deadline,
                                             awaitable<outcome<Results...>> body) {
  return deadline == never ? std::move(body) : limited(std::move(on), deadline, std::move(body));
}

}  // namespace zkrecipes::detail
