#include "session/condition.hpp"

#include <mutex>
#include <unordered_set>
#include <utility>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

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
  void operator()(Handler&& h, condition* self, lease_clock::time_point deadline) const {
    self->enlist(condition::handler(std::forward<Handler>(h)), deadline);
  }
};

condition::condition(scheduler_ptr s) : scheduler_(std::move(s)) {}

condition::~condition() { drop(); }

awaitable<wake> condition::wait(lease_clock::time_point deadline) {
  co_await asio::this_coro::throw_if_cancelled(false);
  bool is_cancelled = co_await cancelled();
  if (is_cancelled) co_return wake::cancelled;
  if (deadline != never && scheduler_->now() >= deadline) co_return wake::timed_out;
  auto keep = scheduler_;
  wait_initiation initiation;
  co_return co_await asio::async_initiate<const asio::use_awaitable_t<>, void(wake)>(initiation, asio::use_awaitable,
                                                                                     this, deadline);
}

void condition::enlist(handler h, lease_clock::time_point deadline) {
  auto slot = asio::get_associated_cancellation_slot(h);
  if (waiters_.empty()) registry_of(*scheduler_).add(this);
  auto which = waiters_.insert(waiters_.end(), waiter{std::move(h), 0, nullptr});
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
}

void condition::resume(iterator which, wake why) {
  if (which->timer) scheduler_->world->cancel(which->timer);
  if (which->cancellable) *which->cancellable = false;
  auto h = std::make_shared<handler>(std::move(which->resume));
  waiters_.erase(which);
  if (waiters_.empty()) registry_of(*scheduler_).remove(this);
  resumptions::add(*scheduler_, [h, why] { std::move (*h)(why); });
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
