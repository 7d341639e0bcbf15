// Questions to the operating system about file descriptors.
#pragma once

#include <cerrno>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace zkrecipes::backend {

/// Two descriptors of one open file have the same inode. A descriptor that was closed and reused has another inode.
inline bool same_file(int a, int b) {
  struct ::stat left {};
  struct ::stat right {};
  return ::fstat(a, &left) == 0 && ::fstat(b, &right) == 0 && left.st_ino == right.st_ino;
}

inline bool readable(int fd) {
  pollfd each{fd, POLLIN, 0};
  return ::poll(&each, 1, 0) > 0;
}

inline bool has_spare_descriptor() {
  const int spare = ::open("/", O_RDONLY | O_CLOEXEC);
  if (spare >= 0) ::close(spare);
  return spare >= 0 || (errno != EMFILE && errno != ENFILE);
}

}  // namespace zkrecipes::backend
