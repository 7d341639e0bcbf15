#include "spool/spool_hold.hpp"

#include <cerrno>
#include <cstring>
#include <limits>
#include <mutex>
#include <set>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <zkrecipes/spool_error.hpp>

#include "spool/spool_file_trouble.hpp"

namespace zkrecipes::detail {

namespace {

using file_id = std::pair<dev_t, ino_t>;

struct held_files {
  std::mutex mutex;
  std::set<file_id> all;
};

held_files& held() {
  static auto& all = *new held_files;  // a spool may be destroyed behind the end of `main`
  return all;
}

file_id id_of(const struct stat& file) { return {file.st_dev, file.st_ino}; }

bool means_no_room(int why) noexcept { return why == ENOSPC || why == EDQUOT || why == EFBIG; }

[[noreturn]] void refuse_open(int why) {
  error_code error = spool_errc::no_access;
  if (means_no_room(why)) error = spool_errc::disk_full;
  if (why == EIO || why == EMFILE || why == ENFILE || why == ENOMEM) error = spool_errc::io_failed;
  throw spool_refusal{error, std::string("could not be opened (") + std::strerror(why) + ")"};
}

/// Another one keeps it, which only our own class does. A file system without such locks has SQLite's only.
bool is_taken(int descriptor) { return ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; }

}  // namespace

spool_hold::spool_hold(const std::string& file) {
  auto& others = held();
  std::lock_guard lock(others.mutex);
  struct stat seen {};
  if (::stat(file.c_str(), &seen) == 0) {
    if (!S_ISREG(seen.st_mode)) throw spool_refusal{spool_errc::no_access, "is no regular file"};
    if (others.all.contains(id_of(seen))) {
      throw spool_refusal{spool_errc::locked, "is in use by another object of this process"};
    }
  }
  // SQLite would make it readable for everybody, as far as the umask allows, also where a symbolic link leads to. Its
  // files beside this one get the same mode. A file that is there keeps its mode.
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (descriptor < 0) refuse_open(errno);
  if (is_taken(descriptor) || ::fstat(descriptor, &seen) != 0) {
    ::close(descriptor);
    throw spool_refusal{spool_errc::locked, "is in use by another process"};
  }
  try {
    others.all.insert(id_of(seen));
  } catch (...) {
    ::close(descriptor);
    throw;
  }
  descriptor_ = descriptor;
}

spool_hold::~spool_hold() {
  auto& others = held();
  std::lock_guard lock(others.mutex);
  struct stat seen {};
  if (::fstat(descriptor_, &seen) == 0) others.all.erase(id_of(seen));
  ::close(descriptor_);
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
  if (::fstatvfs(descriptor_, &all) != 0) return std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(all.f_bavail * all.f_frsize);
}

}  // namespace zkrecipes::detail
