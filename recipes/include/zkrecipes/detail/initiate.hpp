// How every asynchronous operation of the library starts. Only this part is a template; the body is compiled.
#pragma once

#include <type_traits>
#include <utility>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>

#include <zkrecipes/completion_token.hpp>
#include <zkrecipes/error.hpp>

namespace zkrecipes::detail {

template <class Signature>
using handler_for = boost::asio::any_completion_handler<Signature>;

/// Calls `what` on an executor, later. An `any_completion_executor` can not be asked for that, so the call is
/// dispatched to it from the system's executor.
void call_later(boost::asio::any_io_executor on, boost::asio::any_completion_handler<void()> what);
void call_later(boost::asio::any_completion_executor on, boost::asio::any_completion_handler<void()> what);

template <class Signature>
struct initiation;

template <class... Results>
struct initiation<void(error_code, Results...)> {
  template <class Handler, class Start, class Whose, class... Args>
  void operator()(Handler&& handler, Start start, Whose whose, Args... args) const {
    if (!whose) return answer_closed(std::forward<Handler>(handler));
    start(handler_for<void(error_code, Results...)>(std::forward<Handler>(handler)), std::move(whose),
          std::move(args)...);
  }

  /// Completes with `closed` for an object that was made by default or moved from: it has no session, and so no
  /// executor.
  template <class Handler>
  static void answer_closed(Handler&& handler) {
    auto executor = boost::asio::get_associated_executor(handler);
    using is_full = std::is_constructible<boost::asio::any_io_executor, decltype(executor)>;
    using chosen =
        std::conditional_t<is_full::value, boost::asio::any_io_executor, boost::asio::any_completion_executor>;
    handler_for<void(error_code, Results...)> erased(std::forward<Handler>(handler));
    call_later(chosen(std::move(executor)), [erased = std::move(erased)]() mutable {
      std::move(erased)(make_error_code(errc::closed), Results()...);
    });
  }
};

/// Calls the compiled function `start(handler, whose, args...)` with the token's handler, type-erased. `whose` points
/// to the object that the operation belongs to; if it is null the operation completes with `closed`.
template <class Signature, class Token, class... Params, class... Args>
auto initiate(Token& token, void (*start)(handler_for<Signature>, Params...), Args&&... args) {
  return boost::asio::async_initiate<Token, Signature>(initiation<Signature>{}, token, start,
                                                       Params(std::forward<Args>(args))...);
}

}  // namespace zkrecipes::detail
