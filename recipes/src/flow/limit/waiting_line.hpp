// Those that wait for one limit, in order of arrival.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>

#include <zkrecipes/detail/initiate.hpp>

#include "limit/arrival_rule.hpp"
#include "session/condition.hpp"

namespace zkrecipes::detail {

/// Places that drop their waiters when the execution context is shut down.
/// A waiter can own the place (a limit, a balance, a spool), by way of the coroutine that waits, and the place owns the
/// waiter. The context breaks this cycle when it is shut down, and keeps the place until then, for as long as somebody
/// waits.
class waiting_place {
 public:
  virtual ~waiting_place() = default;
  /// Destroys all waiters without calling their handlers.
  virtual void drop() = 0;
};

/// In the context of this executor.
void keep_until_shutdown(const asio::any_io_executor& in, std::shared_ptr<waiting_place> which);
/// Returns what was kept: it has to be destroyed after a mutex in it has been unlocked.
std::shared_ptr<waiting_place> release(const asio::any_io_executor& in, waiting_place* which);

// An operation that waits for a limit.

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

/// Those that a step has brought to their end. They are told when the mutex is unlocked, because a handler may be run
/// or destroyed on the spot, and its destructor may call the limiter.
class ended_waiters {
 public:
  void add(acquire_waiter_ptr which, error_code why) { all_.emplace_back(std::move(which), why); }
  void complete_all(const scheduler& on) {
    for (auto& [which, why] : all_) complete(on, *which, why);
  }

 private:
  std::vector<std::pair<acquire_waiter_ptr, error_code>> all_;
};

/// The timer of a line of waiters. There is none while nobody waits.
/// `set` and `clear` come from any thread, and act on the strand in the order of the calls.
class line_timer : public std::enable_shared_from_this<line_timer> {
 public:
  /// `what` is called on the strand. It must not own the timer.
  line_timer(limit_clock clock, std::function<void()> what) : clock_(std::move(clock)), what_(std::move(what)) {}

  void set(ticks when);
  void clear() { set(no_ticks_limit); }
  /// At once. Only when the context shuts down: nothing else runs then.
  void drop();

 private:
  void start(ticks when);

  limit_clock clock_;
  std::function<void()> what_;
  backend::timer_id id_ = 0;
};

/// Guarded by its owner's mutex.
class waiting_line {
 public:
  bool empty() const noexcept { return all_.empty(); }
  std::size_t size() const noexcept { return all_.size(); }
  const acquire_waiter& front() const noexcept { return *all_.front(); }
  std::int64_t cost() const noexcept { return cost_; }  ///< The cost of all together.

  void push(acquire_waiter_ptr which) {
    cost_ += which->cost;
    which->waits = true;
    all_.push_back(which);
    which->place = std::prev(all_.end());
  }
  acquire_waiter_ptr pop() { return remove(*all_.front()); }
  acquire_waiter_ptr remove(acquire_waiter& which) {
    cost_ -= which.cost;
    which.waits = false;
    auto kept = std::move(*which.place);
    all_.erase(which.place);
    return kept;
  }
  std::list<acquire_waiter_ptr> take_all() {
    for (const auto& each : all_) each->waits = false;
    cost_ = 0;
    return std::exchange(all_, {});
  }
  /// Takes out those that can not be let through by their deadline any more.
  template <class Late>
  void remove_late(const arrival_rule& rule, ticks arrival, Late late) {
    std::int64_t ahead = 0;
    for (auto each = all_.begin(); each != all_.end();) {
      auto& one = **each++;
      if (rule.due(arrival, one.cost, ahead) > one.deadline) {
        late(remove(one));
      } else {
        ahead += one.cost;
      }
    }
  }

 private:
  std::list<acquire_waiter_ptr> all_;
  std::int64_t cost_ = 0;
};

}  // namespace zkrecipes::detail
