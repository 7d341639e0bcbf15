#include "backend/home_process.hpp"

#include <fcntl.h>
#include <sys/socket.h>

namespace zkrecipes::backend {

namespace {

constexpr int kind_of_socket = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

/// Without a number for a pair, that of the descriptor itself has to do. Its owner closes it once more, so it must not
/// stay free for another thread: a new descriptor takes it again, and none that others have taken meanwhile.
void replace_in_need(int descriptor) noexcept {
  ::close(descriptor);
  const int made = ::socket(AF_UNIX, kind_of_socket, 0);
  if (made < 0 || made == descriptor) return;
  const int other = ::fcntl(made, F_DUPFD_CLOEXEC, descriptor);
  if (other >= 0 && other != descriptor) ::close(other);
  ::close(made);
}

}  // namespace

void home_process::detach_elsewhere(int descriptor) const noexcept {
  if (descriptor < 0 || !is_elsewhere()) return;
  int pair[2];
  if (::socketpair(AF_UNIX, kind_of_socket, 0, pair) != 0) return replace_in_need(descriptor);
  ::dup3(pair[0], descriptor, O_CLOEXEC);
  ::close(pair[0]);
  ::close(pair[1]);
}

}  // namespace zkrecipes::backend
