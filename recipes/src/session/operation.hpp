// How a public operation becomes a coroutine on the session's strand, and its result a call of the user's handler.
#pragma once

#include <memory>
#include <tuple>
#include <utility>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/this_coro.hpp>

#include <zkrecipes/detail/initiate.hpp>

#include "session/condition.hpp"

namespace zkrecipes::detail {

/// The result of an operation's body: the arguments of the user's handler.
template <class... Results>
using outcome = std::tuple<error_code, Results...>;

/// The result of an operation that has failed.
template <class... Results>
outcome<Results...> failed(error_code why) {
  return outcome<Results...>(why, Results()...);
}

/// The body of an operation that is refused: nothing is sent.
template <class... Results>
awaitable<outcome<Results...>> refuse(error_code why) {
  co_return failed<Results...>(why);
}

/// Lets every type of cancellation through (a co_spawned coroutine hears only `terminal`), and reports it by return
/// values instead of exceptions.
inline awaitable<void> accept_cancellation() {
  co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
  co_await asio::this_coro::throw_if_cancelled(false);
}

template <class... Results>
awaitable<outcome<Results...>> cancellable(awaitable<outcome<Results...>> body) {
  co_await accept_cancellation();
  co_return co_await std::move(body);
}

/// Carries a cancellation by the user to the strand.
struct relay {
  asio::any_io_executor strand;
  asio::cancellation_signal signal;
};

/// The completion handler of an operation's coroutine. It is called on the strand, and calls the user's handler once,
/// on the handler's executor and outside of the strand. It is one pointer, because a coroutine holds several copies.
template <class... Results>
class completion {
 public:
  using handler_type = handler_for<void(error_code, Results...)>;
  using executor_type = asio::any_io_executor;
  using cancellation_slot_type = asio::cancellation_slot;

  /// `target`, the handler's executor, keeps its context running. `cancellation`, if any, outlives the coroutine.
  completion(const scheduler& on, handler_type handler, asio::any_completion_executor target,
             std::shared_ptr<relay> cancellation)
      : parts_(std::make_shared<parts>(
            parts{on.shared_from_this(), std::move(handler), std::move(target), std::move(cancellation)})) {}

  const executor_type& get_executor() const noexcept { return parts_->on->strand; }
  cancellation_slot_type get_cancellation_slot() const noexcept {
    return parts_->cancellation ? parts_->cancellation->signal.slot() : asio::cancellation_slot();
  }

  void operator()(std::exception_ptr failure, outcome<Results...> result) const {
    if (failure) std::rethrow_exception(failure);  // out of memory: no error code could report it
    auto call = [handler = std::make_shared<handler_type>(std::move(parts_->handler)),
                 result = std::move(result)]() mutable { std::apply(std::move(*handler), std::move(result)); };
    asio::post(parts_->on->base, [target = parts_->target, call = std::move(call)]() mutable {
      asio::dispatch(target, std::move(call));
    });
  }

 private:
  struct parts {
    std::shared_ptr<const scheduler> on;
    handler_type handler;
    asio::any_completion_executor target;
    std::shared_ptr<relay> cancellation;
  };
  std::shared_ptr<parts> parts_;
};

/// Forwards a cancellation from the user's slot to a signal of ours, on the strand. Asio's own forwarding refers to a
/// signal inside the slot, which a completion on another thread may already have replaced. The slot may outlive the
/// operation, and even the context, so its handler has only a weak pointer.
inline std::shared_ptr<relay> forward_cancellation(asio::cancellation_slot slot, const asio::any_io_executor& strand) {
  if (!slot.is_connected()) return nullptr;
  auto made = std::make_shared<relay>();
  made->strand = strand;
  slot.assign([weak = std::weak_ptr(made)](asio::cancellation_type type) {
    auto alive = weak.lock();
    if (alive) asio::post(alive->strand, [alive, type] { alive->signal.emit(type); });
  });
  return made;
}

/// Runs `body` on the strand and passes its result to `handler`. A handler without an associated executor runs on the
/// session's executor, not on the strand, so that a slow handler does not hold up the session.
template <class... Results>
void launch(const scheduler& on, handler_for<void(error_code, Results...)> handler,
            awaitable<outcome<Results...>> body) {
  auto cancellation = forward_cancellation(asio::get_associated_cancellation_slot(handler), on.strand);
  auto executor = asio::get_associated_executor(handler, on.base);
  auto target = asio::prefer(executor, asio::execution::outstanding_work.tracked);
  if (cancellation) body = cancellable(std::move(body));
  asio::co_spawn(on.strand, std::move(body),
                 completion<Results...>(on, std::move(handler), std::move(target), std::move(cancellation)));
}

/// Runs a member coroutine and owns its object, because nothing else may own the object until the coroutine starts.
template <class T, class Result, class... Params, class... Args>
awaitable<Result> owning(std::shared_ptr<T> self, awaitable<Result> (T::*method)(Params...), Args... args) {
  co_return co_await ((*self).*method)(std::move(args)...);
}

/// Starts an operation of a public object: a member coroutine of its implementation, which the operation owns.
template <class T, class... Results, class... Params, class... Args>
void launch(handler_for<void(error_code, Results...)> handler, std::shared_ptr<T> whose,
            awaitable<outcome<Results...>> (T::*method)(Params...), Args... args) {
  const auto on = whose->get_scheduler();
  launch(*on, std::move(handler), owning(std::move(whose), method, std::move(args)...));
}

/// Runs `body` on the strand; no handler is told when it ends.
inline void launch_detached(const asio::any_io_executor& strand, awaitable<void> body) {
  asio::co_spawn(strand, std::move(body), asio::detached);
}

}  // namespace zkrecipes::detail
