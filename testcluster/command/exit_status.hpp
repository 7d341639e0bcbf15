#pragma once

/// How the command ends. 1 and 2 as usual; exec leaves these to the command that it runs, and uses the numbers that env
/// and timeout use.
namespace testcluster::command::exit_status {

inline constexpr int success = 0;
inline constexpr int failure = 1;
inline constexpr int usage = 2;
inline constexpr int own_failure = 125;  // of exec: the cluster did not start, or the schedule failed
inline constexpr int not_executable = 126;
inline constexpr int not_found = 127;

}  // namespace testcluster::command::exit_status
