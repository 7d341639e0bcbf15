// A coroutine of the user's, run on the user's executor, watched from the session's strand.
#pragma once

#include <exception>
#include <memory>

#include <boost/asio/cancellation_signal.hpp>

#include "session/operation.hpp"

namespace zkrecipes::detail {

struct task {
  bool done = false;
  std::exception_ptr failure;
  asio::cancellation_signal signal;
};

using task_ptr = std::shared_ptr<task>;

/// Starts `body` on `executor`; `tell` is notified when it is done. Called on the strand, as is `tell`'s owner `keep`.
inline task_ptr start_task(const scheduler& on, const asio::any_io_executor& executor, awaitable<void> body,
                           condition& tell, std::shared_ptr<void> keep) {
  auto started = std::make_shared<task>();
  auto finished = [started, &tell, keep = std::move(keep)](std::exception_ptr failure) {
    started->done = true;
    started->failure = std::move(failure);
    tell.notify();
  };
  asio::co_spawn(executor, std::move(body),
                 asio::bind_cancellation_slot(started->signal.slot(), asio::bind_executor(on.strand, finished)));
  return started;
}

}  // namespace zkrecipes::detail
