#include "terminal/input.hpp"

#include <cerrno>
#include <system_error>

#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

#include "base/text.hpp"

namespace zkadmin {

std::string name_of(stroke typed) {
  switch (typed) {
    case strokes::enter: return "enter";
    case strokes::escape: return "esc";
    case strokes::tab: return "tab";
    case strokes::backspace: return "backspace";
    case strokes::up: return "up";
    case strokes::down: return "down";
    case strokes::home: return "home";
    case strokes::end: return "end";
    case strokes::page_up: return "PgUp";
    case strokes::page_down: return "PgDn";
    case strokes::shift_tab: return "shift-tab";
    case strokes::wheel_up: return "wheel-up";
    case strokes::wheel_down: return "wheel-down";
    default: break;
  }
  if (typed < 0x20) return std::string("ctrl-") + static_cast<char>('a' + typed - 1);
  return to_utf8(std::u32string(1, typed));
}

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
