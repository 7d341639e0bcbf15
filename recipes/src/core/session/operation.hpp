// How a public operation becomes a coroutine on the session's strand, and its result a call of the user's handler.
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <new>
#include <utility>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/this_coro.hpp>

#include <zkrecipes/detail/initiate.hpp>

#include "backend/worded_errors.hpp"
#include "session/completion.hpp"
#include "session/condition.hpp"
#include "session/reach_limit.hpp"
#include "session/relay.hpp"

namespace zkrecipes::detail {

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

/// How long to wait for a lost connection.
enum class persistence {
  limited,  ///< For as long as `retry_policy::limit` says; then the error is `connection_loss`.
  endless,  ///< Until it is back: for what is there for as long as its user wants it, such as a run or a wait for a
            ///< loss.
};

/// Runs `body` until the session has been without a connection for `retry_policy::limit`. `body` has to undo its
/// effects when it is cancelled.
template <class... Results>
awaitable<outcome<Results...>> reachable(std::shared_ptr<reach_limit> limit, std::shared_ptr<relay> by,
                                         awaitable<outcome<Results...>> body) {
  co_await accept_cancellation();
  const reach_limit::waiting mine(*limit, by->signal);
  auto result = co_await std::move(body);
  auto& error = std::get<0>(result);
  if (mine.is_over() && error == asio::error::operation_aborted) error = errc::connection_loss;
  error = backend::loss_of_operation(error, mine.had_connection());
  co_return result;
}

/// The executor of a handler, which keeps its context running; without an associated one that of the session.
template <class Handler>
asio::any_completion_executor target_of(const Handler& handler, const scheduler& on) {
  auto executor = asio::get_associated_executor(handler, on.base);
  if (!executor) throw std::bad_alloc();  // what `any_completion_handler` makes of it
  return asio::prefer(executor, asio::execution::outstanding_work.tracked);
}

/// Runs `body` on the strand and passes its result to `handler`. A handler without an associated executor runs on the
/// session's executor, not on the strand, so that a slow handler does not hold up the session.
template <class... Results>
void launch(const scheduler& on, handler_for<void(error_code, Results...)> handler, awaitable<outcome<Results...>> body,
            persistence how_long = persistence::limited) {
  const bool is_limited = on.reach && how_long == persistence::limited;
  auto cancellation = forward_cancellation(asio::get_associated_cancellation_slot(handler), on.strand, is_limited);
  auto target = target_of(handler, on);
  if (is_limited) {
    const std::shared_ptr<reach_limit> limit(on.shared_from_this(), on.reach.get());  // it lives by the world of `on`
    body = reachable(limit, cancellation, std::move(body));
  } else if (cancellation) {
    body = cancellable(std::move(body));
  }
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

/// The same, but it waits for a connection for as long as it takes.
template <class T, class... Results, class... Params, class... Args>
void launch_endless(handler_for<void(error_code, Results...)> handler, std::shared_ptr<T> whose,
                    awaitable<outcome<Results...>> (T::*method)(Params...), Args... args) {
  const auto on = whose->get_scheduler();
  launch(*on, std::move(handler), owning(std::move(whose), method, std::move(args)...), persistence::endless);
}

/// The completion handler of a coroutine that has no result. An exception leaves `run()`: nobody else would be told.
inline void rethrow(std::exception_ptr failure) {
  if (failure) std::rethrow_exception(failure);
}

/// Runs `body` on the strand; no handler is told when it ends.
inline void launch_detached(const asio::any_io_executor& strand, awaitable<void> body) {
  asio::co_spawn(strand, std::move(body), &rethrow);
}

/// Awaits what `begin` returns. If it fails for want of memory, it is begun anew after a pause: for what the life of a
/// session depends on.
template <class Begin>
awaitable<void> outlast(scheduler_ptr on, Begin begin) {
  for (;;) {
    try {
      co_await begin();
      co_return;
    } catch (const std::bad_alloc&) {
    }
    condition pause(on);
    co_await pause.wait(on->now() + std::chrono::milliseconds(100));
  }
}

}  // namespace zkrecipes::detail
