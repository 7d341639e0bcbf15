// `zkadmin lock` and `zkadmin lead`.
#pragma once

#include <string>

#include "commands/commands.hpp"
#include "settings/command_line.hpp"

namespace zkadmin {

/// Runs the command of the options while it holds what they name at this path, and returns the exit status: that of
/// the command, or a `hold_status`. Throws `failure`.
///
/// There are two processes. The front is the one that the shell knows; it stops and continues with the job of its
/// terminal. The keeper has the session, and is the parent of the command. It has a process group of its own, so a
/// stopped job keeps what it holds. Each of them ends the command if the other one is killed or, for the keeper,
/// stopped.
int hold(surroundings& around, const settings& wanted, const std::string& path, hold_options how);

// The exit statuses of `zkadmin lock` and `zkadmin lead` that are not those of the command.

enum class hold_status {
  lost = 121,       ///< The ownership ended, or was about to: the command was ended.
  asked = 122,      ///< Somebody asked for the ownership: the command was ended.
  taken = 123,      ///< Somebody else has it, and we were not to wait.
  timed_out = 124,  ///< It was not ours within the time given.
  failed = 125,     ///< zkadmin failed before the command was started.
  cannot_run = 126,
  not_found = 127,
  by_signal = 128,  ///< Plus the number of the signal.
};

constexpr int to_int(hold_status status) noexcept { return static_cast<int>(status); }

}  // namespace zkadmin
