#pragma once

#include <map>
#include <string>
#include <vector>

#include <signal.h>
#include <sys/types.h>

namespace testcluster::command {

/// Starts a program in this process's group, with its descriptors and its terminal, as if it ran in its place: with
/// these signals blocked and these further environment variables. An empty value removes the variable. The program gets
/// SIGTERM if this process ends before it. Throws std::system_error if the program can not be run, with ENOENT if there
/// is none of this name, and testcluster::error if there is no process for it.
pid_t start_program(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment,
                    const sigset_t& blocked);

/// The exit status that a shell shows for a child that has ended: its own, or 128 and the number of the signal.
int shell_status(int wait_status);

}  // namespace testcluster::command
