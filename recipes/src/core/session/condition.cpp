#include "session/condition.hpp"

#include <exception>
#include <mutex>
#include <optional>
#include <unordered_set>
#include <utility>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/this_coro.hpp>

#include "session/forwarding.hpp"
#include "session/resumptions.hpp"

namespace zkrecipes::detail {

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
