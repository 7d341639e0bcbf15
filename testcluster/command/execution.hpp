#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <signal.h>
#include <sys/types.h>

#include <boost/json.hpp>

#include "command_line.hpp"
#include "schedule.hpp"
#include "signals.hpp"
#include "supervisor.hpp"

namespace testcluster::command {

/// Starts a program in this process's group, with its descriptors and its terminal, as if it ran in its place: with
/// these signals blocked and these further environment variables. An empty value removes the variable. The program gets
/// SIGTERM if this process ends before it. Throws std::system_error if the program can not be run, with ENOENT if there
/// is none of this name, and testcluster::error if there is no process for it.
pid_t start_program(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment,
                    const sigset_t& blocked);

/// The exit status that a shell shows for a child that has ended: its own, or 128 and the number of the signal.
int shell_status(int wait_status);

/// One run of `exec`: a cluster, the command that uses it and, if wanted, a schedule of faults beside it.
class execution {
 public:
  /// Reads the schedule. Throws testcluster::error if that can not be used.
  explicit execution(const arguments& wanted);

  /// Returns the exit status. The cluster is gone then, and also if this throws.
  int run();

 private:
  /// Waits for the start. The signal that arrived first, if one did.
  std::optional<int> signal_before_start();
  int run_program(const boost::json::object& cluster);
  void start_schedule();
  int await_program();
  bool end_schedule();
  /// Keeps the logs before, if that was wanted and the status is that of a failure.
  void end_cluster(int status);
  const arguments& wanted_;
  std::optional<schedule> plan_;
  signals arriving_{true};
  supervisor cluster_;
  std::filesystem::path dir_;  // empty: the cluster has not started
  pid_t program_ = 0;
  pid_t schedule_ = 0;
};

}  // namespace testcluster::command
