// How a public operation becomes a coroutine on the session's strand, and its result a call of the user's handler.
#pragma once

#include <memory>
#include <utility>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/this_coro.hpp>

#include <zkrecipes/detail/initiate.hpp>

#include "session/completion.hpp"
#include "session/condition.hpp"
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

/// Runs `body` on the strand; no handler is told when it ends.
inline void launch_detached(const asio::any_io_executor& strand, awaitable<void> body) {
  asio::co_spawn(strand, std::move(body), asio::detached);
}

}  // namespace zkrecipes::detail
