// Keeps SIGPIPE from a process whose peer has closed the connection.
#pragma once

#include <cerrno>
#include <ctime>

#include <pthread.h>
#include <signal.h>

namespace zkrecipes::test {

/// hiredis writes by `write`, which raises SIGPIPE in the calling thread, and that ends a process by default. While
/// this object lives, the signal is blocked in the thread; one that was raised meanwhile is taken back at the end.
class sigpipe_guard {
 public:
  sigpipe_guard() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    sigset_t pending{};
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~sigpipe_guard() {
    const timespec at_once{};
    while (!was_pending_ && ::sigtimedwait(&pipe_, nullptr, &at_once) < 0 && errno == EINTR) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  sigpipe_guard(const sigpipe_guard&) = delete;
  sigpipe_guard& operator=(const sigpipe_guard&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

}  // namespace zkrecipes::test
