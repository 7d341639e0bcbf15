// Hooks: functions that a user gives to an object of the library, which calls them.
#pragma once

#include <exception>
#include <functional>
#include <utility>

#include <boost/asio/post.hpp>

#include "session/condition.hpp"

namespace zkrecipes::detail {

/// Wraps a user's hook, so that the library calls a function which never throws. An exception of the hook is thrown on
/// the session's executor instead, like that of a handler; the library goes on as if the hook had returned nothing,
/// `false` or 0. (docs/operations.md has the rule.)
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
