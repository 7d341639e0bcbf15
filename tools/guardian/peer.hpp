#pragma once

#include <cstdint>
#include <optional>

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

}  // namespace guardian
