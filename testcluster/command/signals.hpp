#pragma once

#include <chrono>
#include <optional>

#include <signal.h>
#include <sys/signalfd.h>

#include "descriptor.hpp"

namespace testcluster::command {

/// Signals that are read from a descriptor instead of being delivered, as long as this object lives. Ignored signals
/// stay ignored. SIGCHLD is one of them. Those that nobody has read are lost at the end. Only for a process with one
/// thread.
class signals {
 public:
  /// INT, TERM, HUP, QUIT and CHLD, and USR1 and USR2 if `user` is true.
  explicit signals(bool user = false);
  ~signals();
  signals(const signals&) = delete;
  signals& operator=(const signals&) = delete;

  /// Readable when a signal has arrived.
  int descriptor() const { return descriptor_.get(); }

  /// The next signal, if one has arrived.
  std::optional<signalfd_siginfo> next();

  /// Waits for a signal other than SIGCHLD, until the deadline at most. Its number, or 0.
  int wait_until(std::chrono::steady_clock::time_point deadline);

  /// What was blocked before: for a child that is to see the signals itself.
  const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
  detail::descriptor descriptor_;
};

}  // namespace testcluster::command
