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

bool is_shortage(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM; }

/// Kernels before 6.5 do not tell whether the peer itself is still there.
void find_start(int socket, peer& of) {
  int number = -1;
  socklen_t size = sizeof number;
  const bool is_told = ::getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &number, &size) == 0;
  const int error = is_told ? 0 : errno;
  if (is_shortage(error)) of.trouble = error;
  if (!is_told && error != ENOPROTOOPT) return;
  const descriptor itself(is_told ? number : -1);
  errno = 0;
  const auto started = start_of(of.pid);
  if (!started && is_shortage(errno)) of.trouble = errno;
  if (!itself || !has_ended(itself.get())) of.started = started.value_or(0);
}

}  // namespace

std::optional<peer> peer_of(int socket) {
  ucred told{};
  socklen_t size = sizeof told;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &told, &size) != 0 || size != sizeof told) return std::nullopt;
  peer found{told.pid, 0, told.uid, told.gid};
  find_start(socket, found);
  return found;
}

}  // namespace guardian
