// `zkadmin lock` and `zkadmin lead`.
#pragma once

#include <string>

#include "commands/commands.hpp"
#include "hold/hold_options.hpp"

namespace zkadmin {

/// Runs the command of the options while it holds what they name at this path, and returns the exit status: that of
/// the command, or a `hold_status`. Throws `failure`.
///
/// There are two processes. The front is the one that the shell knows; it stops and continues with the job of its
/// terminal. The keeper has the session, and is the parent of the command. It has a process group of its own, so a
/// stopped job keeps what it holds. Each of them ends the command if the other one is killed or, for the keeper,
/// stopped.
int hold(surroundings& around, const settings& wanted, const std::string& path, hold_options how);

}  // namespace zkadmin
