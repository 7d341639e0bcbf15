#include "spool/spool_hold.hpp"

#include <cerrno>
#include <limits>
#include <mutex>
#include <set>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <zkrecipes/spool/spooled_producer.hpp>

#include "spool/spool_file_trouble.hpp"

namespace zkrecipes::detail {

namespace {

struct held_files {
  std::mutex mutex;
  std::set<std::pair<dev_t, ino_t>> all;
};

held_files& held() {
  static auto& all = *new held_files;  // a spool may be destroyed behind the end of `main`
  return all;
}

std::pair<dev_t, ino_t> id_of(const struct stat& file) { return {file.st_dev, file.st_ino}; }

/// Another one keeps it, which only our own class does. A file system without such locks has SQLite's only. The byte is
/// far behind those that SQLite locks: `flock` would be a lock of them all on NFS, and keep SQLite out itself.
bool is_taken(int descriptor) {
  struct flock byte {};
  byte.l_type = F_WRLCK;
  byte.l_start = off_t{1} << 62;
  byte.l_len = 1;
  return ::fcntl(descriptor, F_OFD_SETLK, &byte) != 0 && (errno == EAGAIN || errno == EACCES);
}

}  // namespace

/// With the mutex.
void spool_hold::take(const struct stat& file) {
  const auto id = id_of(file);
  if (!held().all.insert(id).second) {
    throw spool_refusal{spool_errc::locked, "is in use by another object of this process"};
  }
  id_ = id;
}

/// What can wait for a server of files is done without the mutex, apart from making a new file: others have other
/// files. When it throws, the destructor is executed.
spool_hold::spool_hold(const std::string& file) : spool_hold() {
  std::unique_lock lock(held().mutex, std::defer_lock);
  struct stat seen {};
  bool is_there = ::stat(file.c_str(), &seen) == 0;
  lock.lock();
  if (!is_there) is_there = ::stat(file.c_str(), &seen) == 0;  // another object may have made it
  if (is_there) {
    if (!S_ISREG(seen.st_mode)) throw spool_refusal{spool_errc::no_access, "is no regular file"};
    take(seen);
    lock.unlock();
  }
  // SQLite would make it readable for everybody, as far as the umask allows, also where a symbolic link leads. Its
  // files beside this one get the same mode. A file that is there keeps its mode.
  descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (descriptor_ < 0) refuse_open(errno);
  if (is_taken(descriptor_) || ::fstat(descriptor_, &seen) != 0) {
    throw spool_refusal{spool_errc::locked, "is in use by another process"};
  }
  if (!id_) take(seen);
  if (id_ != id_of(seen)) throw spool_refusal{spool_errc::io_failed, "was replaced while it was opened"};
}

/// Other objects of this process are refused until it is closed: that drops the locks of all.
spool_hold::~spool_hold() {
  if (descriptor_ >= 0) ::close(descriptor_);
  std::lock_guard lock(held().mutex);
  if (id_) held().all.erase(*id_);
}

bool spool_hold::is_empty() const noexcept {
  struct stat seen {};
  return ::fstat(descriptor_, &seen) == 0 && seen.st_size == 0;
}

bool spool_hold::reserve(std::int64_t size) const noexcept {
  struct stat seen {};
  if (::fstat(descriptor_, &seen) != 0 || seen.st_size >= size) return true;
  const auto more = size - seen.st_size;
  while (::fallocate(descriptor_, FALLOC_FL_KEEP_SIZE, seen.st_size, more) != 0) {
    if (errno == EINTR) continue;
    return !means_no_room(errno) && room() >= more;  // not every file system can do it
  }
  return true;
}

std::int64_t spool_hold::room() const noexcept {
  struct statvfs all {};
  const bool is_known = ::fstatvfs(descriptor_, &all) == 0 && all.f_blocks * all.f_frsize != 0;  // FUSE may say 0
  if (!is_known) return std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(all.f_bavail * all.f_frsize);
}

}  // namespace zkrecipes::detail
