// File descriptors: questions to the operating system, and what a process shares with a child of `fork`.
#pragma once

#include <cerrno>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <zkrecipes/error.hpp>

namespace zkrecipes::backend {

/// Numbers of inodes count only within a device.
inline bool same_inode(const struct ::stat& a, const struct ::stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// Two descriptors of one open file have the same inode. A descriptor that was closed and reused has another one.
inline bool same_file(int a, int b) {
  struct ::stat left {};
  struct ::stat right {};
  return ::fstat(a, &left) == 0 && ::fstat(b, &right) == 0 && same_inode(left, right);
}

inline bool readable(int fd) {
  pollfd each{fd, POLLIN, 0};
  return ::poll(&each, 1, 0) > 0;
}

/// The error of a socket that nobody was told of yet, as an `errno`. 0: none.
inline int pending_error(int fd) {
  int number = 0;
  socklen_t size = sizeof number;
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &number, &size) == 0 ? number : 0;
}

/// This `errno` as an error, if it is one that says why a connection could not be established. (That descriptors have
/// run out is told as such.)
inline error_code connect_error(int number) {
  switch (number) {
    case 0:
    case EINPROGRESS:
    case EALREADY:
    case EAGAIN:
    case EINTR:
    case EMFILE:
    case ENFILE: return {};
    default: return {number, boost::system::system_category()};
  }
}

inline bool has_spare_descriptor() {
  const int spare = ::open("/", O_RDONLY | O_CLOEXEC);
  if (spare >= 0) ::close(spare);
  return spare >= 0 || (errno != EMFILE && errno != ENFILE);
}

/// The process that has made a connection. The copy of a child that was forked is the same socket: what is said or shut
/// down there, the maker's peer hears, and an epoll that both have forgets it for both.
class home_process {
 public:
  /// In a child nothing may be sent, not even what destructors send, such as the removal of a watch; and nothing read,
  /// because its parent would miss it.
  bool is_elsewhere() const noexcept { return pid_ != ::getpid(); }
  /// Before the connection is ended. Elsewhere than at home a socket that is connected to nobody takes the place of
  /// this descriptor: whatever is done then happens to that.
  void detach_elsewhere(int descriptor) const noexcept;

 private:
  pid_t pid_ = ::getpid();
};

}  // namespace zkrecipes::backend
