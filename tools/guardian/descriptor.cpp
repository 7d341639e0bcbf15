#include "descriptor.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include "background_closer.hpp"

namespace guardian {

void closing_lane::close(int descriptor) const noexcept {
  if (is_stranger_s) {
    background_closer::of_process().close(user, descriptor);
  } else {
    ::close(descriptor);
  }
}

void closing_lane::shut(int descriptor) noexcept { ::shutdown(descriptor, SHUT_RDWR); }

}  // namespace guardian
