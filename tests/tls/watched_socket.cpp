#include "tls/watched_socket.hpp"

#include <algorithm>
#include <cerrno>

#include <dlfcn.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace zkrecipes::test {

namespace {

watched_socket* present = nullptr;

/// The function of this name that comes after the one in this file.
template <class Function>
Function* original(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

watched_socket::watched_socket() { present = this; }

watched_socket::~watched_socket() { present = nullptr; }

void watched_socket::watch(int descriptor) {
  descriptor_ = descriptor;
  reads_ = bytes_read_ = broken_pipes_ = 0;
}

std::size_t watched_socket::waiting() const {
  int size = 0;
  return ::ioctl(descriptor_, FIONREAD, &size) == 0 ? static_cast<std::size_t>(size) : 0;
}

std::size_t watched_socket::unsent() const {
  int size = 0;
  return ::ioctl(descriptor_, SIOCOUTQNSD, &size) == 0 ? static_cast<std::size_t>(size) : 0;
}

void watched_socket::take_nothing_behind_unsent() {
  const int most = 1;
  ::setsockopt(descriptor_, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &most, sizeof most);
}

bool watched_socket::takes_more() const {
  pollfd each{descriptor_, POLLOUT, 0};
  return ::poll(&each, 1, 0) > 0;
}

watched_socket* watched_socket::of(int descriptor) {
  return present && present->descriptor_ == descriptor ? present : nullptr;
}

void watched_socket::handle_read(ssize_t result) {
  ++reads_;
  if (result > 0) bytes_read_ += static_cast<std::size_t>(result);
}

void watched_socket::handle_write(ssize_t result, int number) {
  if (result < 0) broken_pipes_ += number == EPIPE;
  if (result > 0 && room != unlimited) room -= static_cast<std::size_t>(result);
}

}  // namespace zkrecipes::test

// The linker takes these for the whole program.

ssize_t recv(int descriptor, void* to, std::size_t size, int flags) {
  static const auto next = zkrecipes::test::original<ssize_t(int, void*, std::size_t, int)>("recv");
  auto* watched = zkrecipes::test::watched_socket::of(descriptor);
  const auto result = next(descriptor, to, size, flags);
  const int failure = errno;
  if (watched) watched->handle_read(result);
  if (watched && watched->after_read) watched->after_read();
  errno = failure;
  return result;
}

ssize_t send(int descriptor, const void* from, std::size_t size, int flags) {
  static const auto next = zkrecipes::test::original<ssize_t(int, const void*, std::size_t, int)>("send");
  auto* watched = zkrecipes::test::watched_socket::of(descriptor);
  if (!watched) return next(descriptor, from, size, flags);
  if (watched->room == 0) return errno = EAGAIN, -1;
  if (watched->failure != 0) return errno = watched->failure, -1;
  if (watched->in_segments) flags |= MSG_EOR;
  const auto result = next(descriptor, from, std::min(size, watched->room), flags);
  const int failure = errno;
  watched->handle_write(result, failure);
  errno = failure;
  return result;
}
