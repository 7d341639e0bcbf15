// Which process a pidfd stands for.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

namespace guardian {

/// The process that has connected, as the kernel says (SO_PEERCRED), with its effective user and group at that time.
struct peer {
  pid_t pid = 0;              ///< 0: it does not matter, because the connection was inherited.
  std::uint64_t started = 0;  ///< As in `process_identity`. 0: it had ended, and its number may be another's by now.
  uid_t user = 0;
  gid_t group = 0;
  int trouble = 0;  ///< The `errno` for which `started` is not known, such as for want of descriptors.
};

/// Nothing if the kernel does not say it.
std::optional<peer> peer_of(int socket);

/// The connection of a process, as the registry sees it.
class process_line {
 public:
  virtual ~process_line() = default;
  /// Reads what has arrived. The process is dead, so there is an end to it.
  virtual void drain() = 0;
  virtual void close() = 0;
};

/// One process in the life of the machine: numbers are used again, with a later start.
struct process_identity {
  pid_t pid = 0;
  std::uint64_t started = 0;
  friend auto operator<=>(const process_identity&, const process_identity&) = default;
};

struct identified_process {
  std::optional<process_identity> who;  ///< Nothing if the process has ended and may be gone.
  std::string name;
  std::string problem;  ///< Why the descriptor is refused; empty if it is taken.
};

/// Refuses what is no pidfd, the pidfd of a single thread (it tells the end of that thread), a process that our /proc
/// does not show, and one whose effective user is not `user`. A process that has ended already is taken without a look
/// at its user, because nothing can be done to it any more.
identified_process identify_process(int pidfd, uid_t user);

/// When the process with this number has started, as in `process_identity`. Nothing: /proc does not show it.
std::optional<std::uint64_t> start_of(pid_t pid);

/// The process has ended: all its threads have.
bool has_ended(int pidfd);

/// Kills the process unless any of its user ids is another one by now, as after the execution of a set-user-id program.
/// Returns why not; empty if it was killed.
std::string kill_process(int pidfd, pid_t pid, uid_t user);

}  // namespace guardian
