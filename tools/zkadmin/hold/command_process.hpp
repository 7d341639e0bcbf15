// The command that runs while something is held.
#pragma once

#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace zkadmin {

// How this process was started to treat signals, and how one process tells the other of those that it gets.

/// From now on a write to a broken pipe fails, and does not end the process. Remembers how it was before.
void ignore_broken_pipes() noexcept;

class inherited_signals {
 public:
  /// Blocks the signals that are to be passed on to the command: those that would end, stop or continue it or tell it
  /// something, and that were not ignored when this process was started, as `nohup` has them.
  inherited_signals();

  const sigset_t& passed_on() const noexcept { return passed_on_; }
  /// Ignores them in this process, which has another one to tell it of them.
  void ignore() const noexcept;
  /// Treats all signals as when this process was started. Allowed between `fork` and `exec`.
  void restore() const noexcept;

 private:
  sigset_t passed_on_{};
  sigset_t blocked_{};
};

// What the front process tells the keeper of a signal that it got.

struct passed_signal {
  unsigned char number;
  bool is_of_terminal;  ///< All processes of the terminal's job have got it, the command too.
};

struct command_plan {
  std::vector<std::string> words;        ///< The program, looked for in PATH unless it has a slash, and its arguments.
  std::vector<std::string> environment;  ///< All of it, as NAME=value.
  pid_t group;                           ///< Its process group: that of the terminal's job.
  const inherited_signals& signals;
  bool is_stopped;  ///< It begins when it gets SIGCONT.
};

/// A child of this process, with its standard input, output and errors. The kernel kills it when this process ends.
/// The process has no other children than this one and what it leaves behind.
class command_process {
 public:
  /// Starts it. \throws std::system_error if there can be no further process.
  explicit command_process(const command_plan& plan);
  ~command_process();
  command_process(const command_process&) = delete;

  /// Takes the ends of all children. False if none is left.
  bool take_ends();
  /// Once it has ended: its exit status, or 128 + signal; 126 or 127 if it could not be executed.
  std::optional<int> status() const noexcept { return status_; }
  /// Why it could not be executed, as an `errno`; 0: it was.
  int execution_error() const noexcept { return execution_error_; }
  /// Does nothing once its end was taken.
  void send(int signal) const noexcept;

 private:
  void keep_status(int status);

  pid_t pid_ = -1;
  int report_ = -1;  // a pipe; the child writes to it if it can not execute the program
  std::optional<int> status_;
  int execution_error_ = 0;
};

}  // namespace zkadmin
