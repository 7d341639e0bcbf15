// A leader in a process of its own, which can die in several ways.
#pragma once

#include <cstddef>
#include <string>

namespace bench {

struct dying_leader {
  std::string hosts;
  std::string path;      ///< The election's.
  std::string guardian;  ///< Its socket.
  std::size_t resident_mib = 1;
  std::string control_group;  ///< A folder; it enters the group first. Empty: it stays where it is.
};

/// Leads, and prints a line when it does and the guardian knows. Then it reads a line: the way to die.
///   exit     by `_exit`
///   segv     by SIGSEGV, with a core dump
///   abort    by `abort`, without one
///   oom      by taking more memory than its control group has
void lead_and_die(const dying_leader& how);

}  // namespace bench
