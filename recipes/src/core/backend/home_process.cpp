#include "backend/home_process.hpp"

#include <fcntl.h>
#include <sys/socket.h>

namespace zkrecipes::backend {

void home_process::detach_elsewhere(int descriptor) const noexcept {
  if (descriptor < 0 || pid_ == ::getpid()) return;
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) {
    ::close(descriptor);
    return;
  }
  ::dup3(pair[0], descriptor, O_CLOEXEC);
  ::close(pair[0]);
  ::close(pair[1]);
}

}  // namespace zkrecipes::backend
