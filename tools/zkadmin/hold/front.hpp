// The process that the shell knows.
#pragma once

#include <sys/signalfd.h>
#include <sys/types.h>

#include "hold/signals.hpp"
#include "hold/tenure.hpp"

namespace zkadmin {

/// Passes signals on to the keeper, stops and continues with the terminal's job, and ends with the keeper's exit
/// status. If the keeper is killed, or does not set the last resort later in time, kills it and everything below.
class front {
 public:
  /// `line`: the socket to the keeper. The references have to outlive the front.
  front(pid_t keeper, int line, const boot_timer& last_resort, const inherited_signals& signals);
  ~front();
  front(const front&) = delete;

  /// Returns the exit status.
  int run();

 private:
  void wait_for_end();
  void pass_on(const signalfd_siginfo& got);
  void forward(int number, bool is_of_terminal) const;
  void kill_keeper() const;
  int end(int status) const;

  pid_t keeper_;
  int line_;
  const boot_timer& last_resort_;
  int signals_;
  int keeper_pidfd_;
  bool is_interrupted_ = false;
};

}  // namespace zkadmin
