// Many acquisitions that wait for one lock, in one session; what processes and servers spend meanwhile.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include <sys/types.h>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/ownership.hpp>
#include <zkrecipes/session.hpp>

namespace bench {

// Figures of processes from the kernel.

/// A number of the status of a process in /proc, such as "VmHWM" (KiB) or "Threads".
long status_of(const std::string& field, const std::string& process = "self");

/// The processor time that a process has used, in milliseconds.
double processor_time_of(pid_t process);

/// Counters of the servers.
/// The totals over all servers.
struct traffic {
  double watch_events = 0;
  double requests = 0;
};

traffic count_traffic();

class crowd {
 public:
  /// The lock's path must exist, without a node below it.
  crowd(zkrecipes::session zk, std::string path) : zk_(std::move(zk)), path_(std::move(path)) {}

  /// Gets `waiting` acquisitions into the line, behind one that holds the lock.
  boost::asio::awaitable<void> gather(std::size_t waiting);
  /// Releases the lock `times` times; each release lets the next acquisition in.
  boost::asio::awaitable<void> hand_on(std::size_t times);

 private:
  void join();
  boost::asio::awaitable<void> await_owners(std::size_t count);

  zkrecipes::session zk_;
  std::string path_;
  std::vector<zkrecipes::ownership> owners_;  // in order; all but the last one have released
};

/// Measures a process in which `waiting` acquisitions wait. Returns one line of JSON,
/// `{"threads": 1, "mebibytes": 12.3, "whole": 15.6}`: `whole` is its peak memory, `mebibytes` the same less the memory
/// that the process had with a connected session before.
std::string measure_waiting(const zkrecipes::session_options& by, std::size_t waiting);

}  // namespace bench
