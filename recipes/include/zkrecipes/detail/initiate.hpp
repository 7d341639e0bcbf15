// How every asynchronous operation of the library starts: the body is compiled, only this much is a template.
#pragma once

#include <utility>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/async_result.hpp>

namespace zkrecipes::detail {

template <class Signature>
using handler_for = boost::asio::any_completion_handler<Signature>;

template <class Signature>
struct initiation {
  template <class Handler, class Start, class... Args>
  void operator()(Handler&& handler, Start start, Args... args) const {
    start(handler_for<Signature>(std::forward<Handler>(handler)), std::move(args)...);
  }
};

/// Calls the compiled function `start(handler, args...)` with the token's handler, type-erased.
template <class Signature, class Token, class... Params, class... Args>
auto initiate(Token& token, void (*start)(handler_for<Signature>, Params...), Args&&... args) {
  return boost::asio::async_initiate<Token, Signature>(initiation<Signature>{}, token, start,
                                                       Params(std::forward<Args>(args))...);
}

}  // namespace zkrecipes::detail
