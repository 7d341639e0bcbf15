// Where a session runs, its clock, and what coroutines wait on: `condition`, for a notification, a point in time, or
// their cancellation. Built of it: a forwarding from one to another, and a turnstile.
#pragma once

#include <atomic>
#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/lease_clock.hpp>

#include "backend/world.hpp"

namespace zkrecipes::detail {

class reach_limit;

namespace asio = boost::asio;

inline constexpr auto never = lease_clock::time_point::max();

/// The end of a budget that begins at `from`: `from` itself if the budget is not positive, `never` if the sum is more
/// than the clock can represent.
inline lease_clock::time_point end_of(time_budget budget, lease_clock::time_point from) {
  const lease_clock::duration length = budget;
  if (length <= lease_clock::duration::zero()) return from;
  return length >= never - from ? never : from + length;
}

class resumptions;

/// The executors and the world that conditions need. It lives as long as any waiter of the session.
struct scheduler : std::enable_shared_from_this<scheduler> {
  asio::any_io_executor base;    ///< The user's executor.
  asio::any_io_executor strand;  ///< On top of `base`: everything of the session runs here.
  std::unique_ptr<backend::world> world;
  std::weak_ptr<detail::resumptions> resumptions;  ///< Used on the strand.
  std::shared_ptr<reach_limit> reach;       ///< Ends what waits for a connection for too long. Null without a session.
  mutable std::atomic<int> operations = 0;  ///< Operations that have not completed.

  lease_clock::time_point now() const { return world->now(); }
  /// The end of a budget that begins now.
  lease_clock::time_point deadline_of(time_budget budget) const { return end_of(budget, now()); }
};

using scheduler_ptr = std::shared_ptr<scheduler>;

template <class T>
using awaitable = asio::awaitable<T>;

enum class wake { notified, timed_out, cancelled };

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
  using handler = asio::async_result<asio::use_awaitable_t<>, void(wake)>::handler_type;
  struct waiter {
    std::optional<handler> resume;  // set once the coroutine is suspended
    backend::timer_id timer = 0;
    std::shared_ptr<bool> cancellable;  // false once resumed: a later cancellation is ignored
  };
  using iterator = std::list<waiter>::iterator;

  friend class forwarding;
  friend struct wait_initiation;
  iterator enlist(asio::cancellation_slot slot, lease_clock::time_point deadline);
  void withdraw(iterator which);
  void resume(iterator which, wake why) noexcept;

  scheduler_ptr scheduler_;
  std::list<waiter> waiters_;
  forwarding* forwardings_ = nullptr;  // those that pass our notifications on, in a list
};

/// True if the calling coroutine has been cancelled, with any type of cancellation.
awaitable<bool> cancelled();

/// While it lives, each notification of `from` also notifies `to`. A coroutine that has to wait for signals of several
/// objects waits on a condition of its own, and has the conditions of these objects forwarded to it. Both conditions
/// have to outlive the forwarding. Forwardings must not form a circle. On the strand only.
class forwarding {
 public:
  forwarding(condition& from, condition& to) : from_(from), to_(to), next_(from.forwardings_) {
    from_.forwardings_ = this;
  }
  forwarding(const forwarding&) = delete;
  forwarding& operator=(const forwarding&) = delete;
  ~forwarding() {
    auto** link = &from_.forwardings_;
    while (*link != this) link = &(*link)->next_;
    *link = next_;
  }

 private:
  friend class condition;
  condition& from_;
  condition& to_;
  forwarding* next_;
};

// Lets only a limited number of coroutines through at the same time, first come, first served. On the strand only.

class turnstile {
 public:
  explicit turnstile(std::size_t width) : free_(width) {}

  /// Lets the next coroutine through when it is destroyed.
  class pass {
   public:
    pass() = default;
    explicit pass(turnstile& of) : of_(&of) {}
    pass(pass&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
    pass& operator=(pass&&) = delete;
    ~pass() {
      if (of_) of_->leave();
    }
    explicit operator bool() const noexcept { return of_ != nullptr; }

   private:
    turnstile* of_ = nullptr;
  };

  /// Waits for a pass; empty if the wait was cancelled. The pass must not outlive the turnstile.
  awaitable<pass> enter(scheduler_ptr on);

 private:
  struct waiter;
  void leave();

  std::size_t free_;
  std::list<waiter*> waiting_;
};

}  // namespace zkrecipes::detail
