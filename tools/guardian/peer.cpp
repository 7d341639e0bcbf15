#include "peer.hpp"

#include <sys/socket.h>

namespace guardian {

std::optional<peer> peer_of(int socket) {
  ucred told{};
  socklen_t size = sizeof told;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &told, &size) != 0 || size != sizeof told) return std::nullopt;
  return peer{told.pid, told.uid, told.gid};
}

}  // namespace guardian
