// The processes below this one. It has to be a child subreaper (`PR_SET_CHILD_SUBREAPER`): then a process whose parent
// has ended stays below it, also one that has made a session of its own.
#pragma once

#include <vector>

#include <sys/types.h>

namespace zkadmin {

/// Makes this process a child subreaper.
void keep_descendants() noexcept;

/// Those that there are at this moment, as /proc tells them; they may start others meanwhile.
std::vector<pid_t> descendants();

/// Sends the signal to each of them. Returns the first of those that may not be signalled, because they have other
/// rights than we; 0: none.
pid_t signal_descendants(int number);

/// Returns when SIGTSTP has stopped those of our process group that have its default action, at the latest after 2 s.
void wait_until_stopped();

/// Kills them, and returns when none is left. Says so on standard error if that takes longer than a second.
void kill_all_descendants();

}  // namespace zkadmin
