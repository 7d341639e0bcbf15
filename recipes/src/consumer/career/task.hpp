// A coroutine on an executor of its own, such as one of the user's, that is observed from the session's strand.
#pragma once

#include <exception>
#include <memory>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include "session/operation.hpp"

namespace zkrecipes::detail {

struct task {
  explicit task(asio::any_io_executor on) : executor(std::move(on)) {}

  asio::any_io_executor executor;
  bool done = false;
  bool cut = false;            ///< It was cancelled before it was done. Only used on `executor`.
  std::exception_ptr failure;  ///< None if it was cut, because a cancelled coroutine may end with any exception.
  asio::cancellation_signal signal;
};

using task_ptr = std::shared_ptr<task>;

/// Starts `body` on `executor`, a strand; `changed`, which `keep` owns, is notified when it is done. Called on the
/// session's strand.
inline task_ptr start_task(const scheduler& on, const asio::any_io_executor& executor, awaitable<void> body,
                           condition& changed, std::shared_ptr<void> keep) {
  auto started = std::make_shared<task>(executor);
  struct guarded {
    static awaitable<void> run(task_ptr self, awaitable<void> body) {
      try {
        co_await std::move(body);
      } catch (...) {
        if (!self->cut) throw;
      }
    }
  };
  auto finished = [started, &changed, keep = std::move(keep)](std::exception_ptr failure) {
    started->done = true;
    started->failure = std::move(failure);
    changed.notify();
  };
  asio::co_spawn(executor, guarded::run(started, std::move(body)),
                 asio::bind_cancellation_slot(started->signal.slot(), asio::bind_executor(on.strand, finished)));
  return started;
}

/// The signal is emitted on the strand of the coroutine, because it must not be emitted while the coroutine runs.
inline void cancel(const task_ptr& which, asio::cancellation_type how) {
  if (!which || which->done) return;
  asio::dispatch(which->executor, [which, how] {
    which->cut = true;
    which->signal.emit(how);
  });
}

}  // namespace zkrecipes::detail
