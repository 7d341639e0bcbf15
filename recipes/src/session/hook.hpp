// Functions that a user has given to an object of the library to be called.
#pragma once

#include <exception>
#include <functional>
#include <utility>

#include <boost/asio/post.hpp>

#include "session/condition.hpp"

namespace zkrecipes::detail {

/// What the library calls instead of a user's hook: it never throws. An exception goes on to the user's executor, as that of
/// a handler would; the library goes on as if the hook had returned nothing, no or 0. (docs/operations.md has the rule.)
template <class Result, class... Params>
std::function<Result(Params...)> guarded(const scheduler& on, std::function<Result(Params...)> hook) {
  if (!hook) return nullptr;
  return [base = on.base, hook = std::move(hook)](Params... args) -> Result {
    try {
      return hook(std::forward<Params>(args)...);
    } catch (...) {
      asio::post(base, [failure = std::current_exception()] { std::rethrow_exception(failure); });
      return Result();
    }
  };
}

}  // namespace zkrecipes::detail
