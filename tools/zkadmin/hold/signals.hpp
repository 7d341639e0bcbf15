// How this process was started to treat signals, and how one process tells the other of those that it gets.
#pragma once

#include <csignal>

namespace zkadmin {

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

}  // namespace zkadmin
