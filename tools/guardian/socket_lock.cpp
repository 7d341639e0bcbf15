#include "socket_lock.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace guardian {

namespace {

/// Whether the file still stands there: an earlier guardian removes it when it ends.
bool stands_at(int descriptor, const std::string& path) {
  struct stat held {};
  struct stat there {};
  return ::fstat(descriptor, &held) == 0 && ::lstat(path.c_str(), &there) == 0 && held.st_dev == there.st_dev &&
         held.st_ino == there.st_ino;
}

}  // namespace

socket_lock::socket_lock(const std::string& path)
    : file_(path + ".lock"), held_(::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) {
  if (!held_) throw std::runtime_error("socket " + path + ": " + file_ + ": " + std::strerror(errno));
  const bool is_ours = ::flock(held_.get(), LOCK_EX | LOCK_NB) == 0 && stands_at(held_.get(), file_);
  if (!is_ours) throw std::runtime_error("socket " + path + ": another guardian listens there");
}

socket_lock::~socket_lock() { ::unlink(file_.c_str()); }

}  // namespace guardian
