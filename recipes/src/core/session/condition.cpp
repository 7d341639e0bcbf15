#include "session/condition.hpp"

#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_set>
#include <utility>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/this_coro.hpp>

namespace zkrecipes::detail {

struct turnstile::waiter {
  waiter(turnstile& of, scheduler_ptr on)
      : in(of), at(of.waiting_.insert(of.waiting_.end(), this)), changed(std::move(on)) {}
  waiter(const waiter&) = delete;
  ~waiter() {
    if (!admitted) in.waiting_.erase(at);
  }

  turnstile& in;
  std::list<waiter*>::iterator at;
  condition changed;
  bool admitted = false;
};

awaitable<turnstile::pass> turnstile::enter(scheduler_ptr on) {
  if (free_ > 0) {
    --free_;
    co_return pass(*this);
  }
  waiter self(*this, std::move(on));
  while (!self.admitted) {
    auto why = co_await self.changed.wait();
    if (why == wake::cancelled && !self.admitted) co_return pass();
  }
  co_return pass(*this);
}

void turnstile::leave() {
  if (waiting_.empty()) {
    ++free_;
    return;
  }
  auto* next = waiting_.front();
  waiting_.pop_front();
  next->admitted = true;
  next->changed.notify();
}

/// The coroutines of a session that are about to be resumed.
/// Resumes in the order in which it is told to, on the strand. One event can resume thousands: they are handed to the
/// strand some hundred at a time, so that the lease is proved and users' handlers are called in between. Owned by what
/// has been handed to the strand. On the strand.
class resumptions : public std::enable_shared_from_this<resumptions> {
 public:
  using function = std::function<void()>;
  static void add(scheduler& on, function resume);

  explicit resumptions(asio::any_io_executor strand) : strand_(std::move(strand)) {}

 private:
  void post(function resume);
  void end_one();

  asio::any_io_executor strand_;
  std::size_t posted_ = 0;
  std::deque<function> waiting_;  // behind those
};

namespace {
// A resumption takes some ten microseconds, and at the worst some hundred.
constexpr std::size_t at_once = 256;
}  // namespace

void resumptions::add(scheduler& on, function resume) {
  auto all = on.resumptions.lock();
  if (!all) on.resumptions = all = std::make_shared<resumptions>(on.strand);
  if (all->posted_ < at_once && all->waiting_.empty()) {
    all->post(std::move(resume));
  } else {
    all->waiting_.push_back(std::move(resume));
  }
}

void resumptions::post(function resume) {
  ++posted_;
  asio::post(strand_, [self = shared_from_this(), resume = std::move(resume)] {
    struct end {  // also where a handler throws
      ~end() { all.end_one(); }
      resumptions& all;
    } behind{*self};
    resume();
  });
}

void resumptions::end_one() {
  if (--posted_ > 0) return;
  while (posted_ < at_once && !waiting_.empty()) {
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    post(std::move(next));
  }
}

namespace {

/// A waiting coroutine owns its condition, and the condition owns the coroutine. If the program ends while some
/// coroutines are suspended, the shutdown of the context has to break these cycles, or they would leak.
class registry : public asio::execution_context::service {
 public:
  using key_type = registry;
  static asio::execution_context::id id;

  explicit registry(asio::execution_context& context) : asio::execution_context::service(context) {}

  void add(condition* each) {
    std::lock_guard lock(mutex_);
    all_.insert(each);
  }
  void remove(condition* each) {
    std::lock_guard lock(mutex_);
    all_.erase(each);
  }

 private:
  void shutdown() override {
    // To drop one condition may destroy others, which then remove themselves from the set.
    while (auto* each = next()) each->drop();
  }
  condition* next() {
    std::lock_guard lock(mutex_);
    if (all_.empty()) return nullptr;
    auto* first = *all_.begin();
    all_.erase(all_.begin());
    return first;
  }

  std::mutex mutex_;
  std::unordered_set<condition*> all_;
};

asio::execution_context::id registry::id;

registry& registry_of(const scheduler& s) {
  return asio::use_service<registry>(asio::query(s.strand, asio::execution::context));
}

}  // namespace

struct wait_initiation {
  template <class Handler>
  void operator()(Handler&& h, condition::iterator which) const {
    which->resume.emplace(std::forward<Handler>(h));
  }
};

condition::condition(scheduler_ptr s) : scheduler_(std::move(s)) {}

condition::~condition() { drop(); }

awaitable<wake> condition::wait(lease_clock::time_point deadline) {
  co_await asio::this_coro::throw_if_cancelled(false);
  bool is_cancelled = co_await cancelled();
  if (is_cancelled) co_return wake::cancelled;
  if (deadline != never && scheduler_->now() >= deadline) co_return wake::timed_out;
  const auto keep = scheduler_;
  // All that needs memory comes before the suspension: an exception behind it would destroy the coroutine, and nobody
  // would be told.
  const auto state = co_await asio::this_coro::cancellation_state;
  const auto which = enlist(state.slot(), deadline);
  wait_initiation initiation;
  std::optional<awaitable<wake>> waiting;
  try {
    waiting.emplace(
        asio::async_initiate<const asio::use_awaitable_t<>, void(wake)>(initiation, asio::use_awaitable, which));
  } catch (...) {
    withdraw(which);
    throw;
  }
  co_return co_await std::move(*waiting);
}

condition::iterator condition::enlist(asio::cancellation_slot slot, lease_clock::time_point deadline) {
  const auto which = waiters_.emplace(waiters_.end());
  try {
    if (waiters_.size() == 1) registry_of(*scheduler_).add(this);
    if (deadline != never) {
      which->timer = scheduler_->world->call_at(deadline, [this, which] {
        which->timer = 0;
        resume(which, wake::timed_out);
      });
    }
    if (slot.is_connected()) {
      which->cancellable = std::make_shared<bool>(true);
      slot.assign([this, which, live = which->cancellable](asio::cancellation_type type) {
        if (*live && type != asio::cancellation_type::none) resume(which, wake::cancelled);
      });
    }
  } catch (...) {
    withdraw(which);
    throw;
  }
  return which;
}

void condition::withdraw(iterator which) {
  if (which->timer) scheduler_->world->cancel(which->timer);
  if (which->cancellable) *which->cancellable = false;
  waiters_.erase(which);
  if (waiters_.empty()) registry_of(*scheduler_).remove(this);
}

/// A coroutine that could not be resumed for want of memory would be destroyed, and its operation would never complete.
/// So the process ends here. Inside the `catch`, because `std::terminate` tells what was thrown only there; the end of
/// a `noexcept` function may tell nothing.
void condition::resume(iterator which, wake why) noexcept {
  try {
    auto h = std::make_shared<handler>(std::move(*which->resume));
    withdraw(which);
    resumptions::add(*scheduler_, [h, why] { std::move (*h)(why); });
  } catch (...) {
    std::terminate();
  }
}

void condition::notify() {
  while (!waiters_.empty()) resume(waiters_.begin(), wake::notified);
  for (auto* each = forwardings_; each; each = each->next_) each->to_.notify();
}

void condition::drop() {
  if (waiters_.empty()) return;
  registry_of(*scheduler_).remove(this);
  for (auto& each : waiters_) {
    if (each.timer) scheduler_->world->cancel(each.timer);
    if (each.cancellable) *each.cancellable = false;
  }
  auto dropped = std::exchange(waiters_, {});  // destroys coroutines; the last of them may own this condition
}

awaitable<bool> cancelled() {
  auto state = co_await asio::this_coro::cancellation_state;
  co_return state.cancelled() != asio::cancellation_type::none;
}

}  // namespace zkrecipes::detail
