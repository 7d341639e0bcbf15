#pragma once

#include <string>

#include "fault_options.hpp"

namespace testcluster::command {

/// A fault that is on when the command of `exec` begins. Its kind may also be "partition".
struct initial_fault {
  int server = 0;
  fault_options fault;
};

/// A fault as on the command line without its first word, such as "delay 1 50 --peer 2", or "partition 2". Throws
/// CLI::ValidationError, which names the option --fault, for anything else.
initial_fault parse_initial_fault(const std::string& text);

}  // namespace testcluster::command
