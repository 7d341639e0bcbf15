// The one primitive that the library's coroutines wait on: for a notification, a point in time, or their cancellation.
#pragma once

#include <list>
#include <memory>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "backend/backend.hpp"

namespace zkrecipes::detail {

namespace asio = boost::asio;

template <class T>
using awaitable = asio::awaitable<T>;

inline constexpr auto never = lease_clock::time_point::max();

/// The end of a budget that begins at `from`: `from` itself if the budget is not positive, `never` if the sum is more
/// than the clock can represent.
inline lease_clock::time_point end_of(time_budget budget, lease_clock::time_point from) {
  const lease_clock::duration length = budget;
  if (length <= lease_clock::duration::zero()) return from;
  return length >= never - from ? never : from + length;
}

enum class wake { notified, timed_out, cancelled };

/// The executors and the world that conditions need. It lives as long as any waiter of the session.
struct scheduler : std::enable_shared_from_this<scheduler> {
  asio::any_io_executor base;    ///< The user's executor.
  asio::any_io_executor strand;  ///< On top of `base`: everything of the session runs here.
  std::unique_ptr<backend::world> world;
  ~scheduler();

  lease_clock::time_point now() const { return world->now(); }
  /// The end of a budget that begins now.
  lease_clock::time_point deadline_of(time_budget budget) const { return end_of(budget, now()); }
};

using scheduler_ptr = std::shared_ptr<scheduler>;

class forwarding;

/// To be used like a condition variable: check, wait, check again. On the strand only. A notified waiter is resumed
/// later, never inside `notify`.
class condition {
 public:
  explicit condition(scheduler_ptr s);
  condition(const condition&) = delete;
  condition& operator=(const condition&) = delete;
  ~condition();

  /// Waits for `notify`, until `deadline` at the latest. Once the calling coroutine has been cancelled, each further
  /// wait returns `wake::cancelled` at once.
  awaitable<wake> wait(lease_clock::time_point deadline = never);

  void notify();

  /// Destroys all waiters without resuming them. Called when the executor's context is shut down.
  void drop();

 private:
  using handler = asio::any_completion_handler<void(wake)>;
  struct waiter {
    handler resume;
    backend::timer_id timer = 0;
    std::shared_ptr<bool> cancellable;  // false once resumed: a later cancellation is ignored
  };
  using iterator = std::list<waiter>::iterator;

  friend class forwarding;
  friend struct wait_initiation;
  void enlist(handler h, lease_clock::time_point deadline);
  void resume(iterator which, wake why);

  scheduler_ptr scheduler_;
  std::list<waiter> waiters_;
  forwarding* forwardings_ = nullptr;  // those that pass our notifications on, in a list
};

/// True if the calling coroutine has been cancelled, with any type of cancellation.
awaitable<bool> cancelled();

}  // namespace zkrecipes::detail
