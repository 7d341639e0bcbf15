// What has to be done where an exception ends a coroutine: behind it no other coroutine could be awaited.
#pragma once

#include <exception>
#include <utility>

#include "session/condition.hpp"

namespace zkrecipes::detail {

/// Awaits `body`. If it fails for want of memory, awaits `undo`, which has its own already; then the failure goes on.
/// If `undo` fails, too, the process ends: what it leaves behind would make others wait.
template <class Result>
awaitable<Result> or_undo(awaitable<Result> body, awaitable<void> undo) {
  std::exception_ptr failure;
  try {
    co_return co_await std::move(body);
  } catch (...) {
    failure = std::current_exception();
  }
  try {
    co_await std::move(undo);
  } catch (...) {
    std::terminate();
  }
  std::rethrow_exception(failure);
}

}  // namespace zkrecipes::detail
