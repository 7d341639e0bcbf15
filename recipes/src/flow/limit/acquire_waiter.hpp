// An operation that waits for a limit.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <utility>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>

#include <zkrecipes/detail/initiate.hpp>

#include "limit/arrival_rule.hpp"
#include "session/scheduler.hpp"

namespace zkrecipes::detail {

using acquire_handler = handler_for<void(error_code)>;

struct acquire_waiter {
  acquire_handler handler;
  asio::any_completion_executor target;  ///< The handler's executor; keeps its context running.
  std::int64_t cost;
  ticks came;
  ticks deadline;
  bool waits = false;  ///< It is in a line. Guarded by the mutex of the line's owner.
  std::list<std::shared_ptr<acquire_waiter>>::iterator place{};
};
using acquire_waiter_ptr = std::shared_ptr<acquire_waiter>;

acquire_waiter_ptr make_waiter(const scheduler& on, acquire_handler handler, std::int64_t cost, ticks came,
                               ticks deadline = no_ticks_limit);

/// Calls the handler later, on its executor; once for each waiter.
void complete(const scheduler& on, acquire_waiter& which, error_code why);

/// Has the operation cancelled by `cancel` when its handler's slot says so. The slot may outlive both.
template <class Cancel>
void on_cancellation(const acquire_waiter_ptr& mine, Cancel cancel) {
  auto slot = asio::get_associated_cancellation_slot(mine->handler);
  if (!slot.is_connected()) return;
  slot.assign([waiter = std::weak_ptr(mine), cancel = std::move(cancel)](asio::cancellation_type type) {
    auto which = waiter.lock();
    if (which && type != asio::cancellation_type::none) cancel(*which);
  });
}

}  // namespace zkrecipes::detail
