#include "peer.hpp"

#include <cerrno>

#include <sys/socket.h>

#include "descriptor.hpp"
#include "process_identity.hpp"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

namespace guardian {

namespace {

/// Kernels before 6.5 do not tell whether the peer itself is still there.
std::uint64_t start_of_peer(int socket, pid_t pid) {
  int number = -1;
  socklen_t size = sizeof number;
  const bool is_told = ::getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &number, &size) == 0;
  if (!is_told && errno != ENOPROTOOPT) return 0;
  const descriptor itself(is_told ? number : -1);
  const auto started = start_of(pid);
  return itself && has_ended(itself.get()) ? 0 : started.value_or(0);
}

}  // namespace

std::optional<peer> peer_of(int socket) {
  ucred told{};
  socklen_t size = sizeof told;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &told, &size) != 0 || size != sizeof told) return std::nullopt;
  return peer{told.pid, start_of_peer(socket, told.pid), told.uid, told.gid};
}

}  // namespace guardian
