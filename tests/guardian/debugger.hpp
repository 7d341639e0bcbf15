// A debugger of a test, which holds threads of a child with `ptrace`.
#pragma once

#include <sys/types.h>

namespace guardian::test {

/// Holds one thread. All calls come from the thread that made the debugger. The held thread goes on without a debugger
/// when the program of the test has ended.
class debugger {
 public:
  /// \throws std::runtime_error: it may not be attached.
  explicit debugger(pid_t thread);

  /// Returns when the thread has stopped.
  void interrupt() const;
  /// Waits until the thread stops before a signal, which is returned.
  int wait_for_signal() const;
  /// Without the signal that the thread has stopped before.
  void go_on() const;
  /// A debugged thread has not ended before its debugger knows it. Does nothing if the debugger does. Not for the first
  /// thread of a process.
  void wait_for_end() const;

 private:
  int wait() const;

  pid_t thread_;
};

/// Whether this process may debug its children: containers can forbid it.
bool may_debug();

}  // namespace guardian::test
