#include "terminal/input.hpp"

#include <cerrno>
#include <system_error>

#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

namespace zkadmin {

int watch_for_input(int descriptor) {
  const int watcher = ::epoll_create1(EPOLL_CLOEXEC);
  epoll_event readable{};
  readable.events = EPOLLIN;
  if (watcher < 0 || ::epoll_ctl(watcher, EPOLL_CTL_ADD, descriptor, &readable) != 0)
    throw std::system_error(errno, std::generic_category(), "waiting for input");
  return watcher;
}

bool has_ended(int descriptor) {
  pollfd input{descriptor, POLLIN, 0};
  int available = 0;
  return ::poll(&input, 1, 0) > 0 && (::ioctl(descriptor, FIONREAD, &available) != 0 || available == 0);
}

}  // namespace zkadmin
