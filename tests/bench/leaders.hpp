// A candidate in a separate process, which can be killed.
#pragma once

#include <cstddef>
#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

namespace bench {

// A leader in a process of its own, which can die in several ways.

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

/// Campaigns at `path`. When it leads, it prints how many threads that added to the process; it ends when it reads a
/// line.
void stand_for(const std::string& hosts, const std::string& path);

/// Waits until a leader and one successor stand in the line at `path`.
boost::asio::awaitable<void> until_two_stand(zkrecipes::session zk, std::string path);

}  // namespace bench
