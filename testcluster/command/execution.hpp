#pragma once

#include <optional>

#include <sys/types.h>

#include <boost/json.hpp>

#include "command_line.hpp"
#include "schedule.hpp"
#include "signals.hpp"
#include "supervisor.hpp"

namespace testcluster::command {

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
  void start_schedule(const std::filesystem::path& dir);
  int await_program();
  bool end_schedule();
  const arguments& wanted_;
  std::optional<schedule> plan_;
  signals arriving_{true};
  supervisor cluster_;
  pid_t program_ = 0;
  pid_t schedule_ = 0;
};

}  // namespace testcluster::command
