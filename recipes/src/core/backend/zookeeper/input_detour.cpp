#include "backend/zookeeper/input_detour.hpp"

#include <array>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/zookeeper/descriptors.hpp"

namespace zkrecipes::backend {

input_detour::input_detour() {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) return;
  near_ = pair[0];
  far_ = pair[1];
}

input_detour::~input_detour() {
  if (!is_ready()) return;
  ::close(near_);
  ::close(far_);
}

bool input_detour::begin(int descriptor) const {
  return is_ready() && ::dup3(near_, descriptor, O_CLOEXEC) == descriptor;
}

void input_detour::end(int descriptor, int original) const {
  if (!same_file(descriptor, near_)) return;
  send_what_was_written(original);
  ::dup3(original, descriptor, O_CLOEXEC);
}

void input_detour::send_what_was_written(int original) const {
  std::array<char, 4096> bytes;
  for (;;) {
    const auto size = ::recv(far_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (size <= 0) return;
    const auto sent = ::send(original, bytes.data(), static_cast<std::size_t>(size), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent != size) ::shutdown(original, SHUT_RDWR);  // a part of a request would spoil all that follow
  }
}

std::size_t input_detour::write(std::string_view bytes) const {
  const auto taken = ::send(far_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  return taken > 0 ? static_cast<std::size_t>(taken) : 0;
}

}  // namespace zkrecipes::backend
