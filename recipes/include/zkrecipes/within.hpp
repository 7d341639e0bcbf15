// A time limit for any operation: a completion token around another one.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/system_executor.hpp>

#include <zkrecipes/completion_token.hpp>
#include <zkrecipes/detail/within_handler.hpp>
#include <zkrecipes/error.hpp>
#include <zkrecipes/lease_clock.hpp>

namespace zkrecipes {

/// What `within` makes. The timer runs on this executor; `void`: on that of the handler.
template <class Token, class Executor = void>
struct within_token {
  time_budget limit;
  Token token;
  Executor timer_executor;
};
/// The same on the executor that is associated with the handler.
template <class Token>
struct within_token<Token, void> {
  time_budget limit;
  Token token;
};

/// Gives an operation so long at most: `co_await queue.async_take(within(5s))`, or with any token behind the limit,
/// `within(5s, as_tuple(use_awaitable))`. When the time is up the operation is cancelled, with `terminal`, and its
/// error is `timed_out` instead of `operation_aborted`. What a cancelled operation may leave behind its own
/// documentation says. An operation that can not be cancelled (`session::async_close`) is not ended.
///
/// It is meant for the operations of this library, and works for others whose first result is an `error_code`. (Boost
/// has the same since 1.86, `cancel_after`.) The token needs an associated executor, as those of coroutines and
/// `bind_executor` have; to any other the executor of the timer is given first: `within(io.get_executor(), 5s,
/// handler)`.
///
/// Thread safety: on several threads the handler's executor has to be a strand, as for Asio's own time limits.
template <class Token = default_token>
within_token<std::decay_t<Token>> within(time_budget limit, Token&& token = Token()) {
  return {limit, std::forward<Token>(token)};
}
template <class Token = default_token>
within_token<std::decay_t<Token>, boost::asio::any_io_executor> within(boost::asio::any_io_executor timer_executor,
                                                                       time_budget limit, Token&& token = Token()) {
  return {limit, std::forward<Token>(token), std::move(timer_executor)};
}

namespace detail {

/// Begins an operation that takes such a token.
template <class Initiation, class Given>
struct within_initiation {
  template <class Handler, class... Args>
  void operator()(Handler&& handler, Args&&... args) {
    using handler_type = std::decay_t<Handler>;
    auto limit = std::make_shared<within_limit>(timer_executor_of(handler));
    auto outer = boost::asio::get_associated_cancellation_slot(handler);
    if (outer.is_connected()) {
      outer.assign([weak = std::weak_ptr(limit)](boost::asio::cancellation_type how) {
        if (auto alive = weak.lock()) alive->cancel(how);
      });
    }
    std::move(initiation)(within_handler<handler_type>(std::forward<Handler>(handler), limit),
                          std::forward<Args>(args)...);
    limit->start(given.limit);
  }

  template <class Handler>
  boost::asio::any_io_executor timer_executor_of(const Handler& handler) {
    if constexpr (requires { given.timer_executor; }) {
      return given.timer_executor;
    } else {
      static_assert(!std::is_same_v<boost::asio::associated_executor_t<Handler>, boost::asio::system_executor>,
                    "a handler without an executor: write within(executor, limit, handler)");
      return boost::asio::get_associated_executor(handler);
    }
  }

  Initiation initiation;
  Given given;
};

}  // namespace detail

}  // namespace zkrecipes

/// \cond
template <class Token, class Executor, class... Results>
struct boost::asio::async_result<zkrecipes::within_token<Token, Executor>, void(zkrecipes::error_code, Results...)> {
  template <class Initiation, class... Args>
  static auto initiate(Initiation&& initiation, zkrecipes::within_token<Token, Executor> given, Args&&... args) {
    auto token = std::move(given.token);
    zkrecipes::detail::within_initiation<std::decay_t<Initiation>, decltype(given)> limited{
        std::forward<Initiation>(initiation), std::move(given)};
    return async_initiate<Token, void(zkrecipes::error_code, Results...)>(std::move(limited), token,
                                                                          std::forward<Args>(args)...);
  }
};
/// \endcond
