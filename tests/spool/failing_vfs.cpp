#include "spool/failing_vfs.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <sys/statvfs.h>

namespace zkrecipes::test {

namespace {

constexpr int size_of_sector = 512;
failing_vfs* living_vfs = nullptr;

}  // namespace

/// SQLite gives the memory; behind it is the file of the real file system.
struct failing_file {
  using call = failing_vfs::call;

  sqlite3_file base;
  failing_vfs* vfs;
  unreliable_file* content;
  const std::string* path;

  static failing_file& of(sqlite3_file* file) { return *reinterpret_cast<failing_file*>(file); }
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  const sqlite3_io_methods& methods() { return *real()->pMethods; }

  static int close(sqlite3_file* file) { return of(file).methods().xClose(of(file).real()); }
  static int read(sqlite3_file* file, void* to, int count, sqlite3_int64 at) {
    auto& self = of(file);
    if (const int refused = self.vfs->enter(call::read)) return refused;
    return self.methods().xRead(self.real(), to, count, at);
  }
  static int write(sqlite3_file* file, const void* from, int count, sqlite3_int64 at) {
    auto& self = of(file);
    const int refused = self.vfs->enter(call::write);
    if (refused && refused != SQLITE_FULL) return refused;
    if (refused) count = count / 2 / size_of_sector * size_of_sector;
    if (!self.vfs->has_room(*self.path, static_cast<std::uintmax_t>(at + count))) return SQLITE_FULL;
    self.content->handle_write(static_cast<std::size_t>(at),
                               {static_cast<const char*>(from), static_cast<size_t>(count)});
    const int result = self.methods().xWrite(self.real(), from, count, at);
    return refused ? refused : result;
  }
  static int truncate(sqlite3_file* file, sqlite3_int64 size) {
    auto& self = of(file);
    if (const int refused = self.vfs->enter(call::truncate)) return refused;
    self.content->record_truncation(static_cast<std::size_t>(size));
    self.vfs->reserved_.erase(*self.path);
    return self.methods().xTruncate(self.real(), size);
  }
  static int sync(sqlite3_file* file, int) {
    auto& self = of(file);
    const int refused = self.vfs->enter(call::sync);
    if (refused && !self.vfs->has_ended()) self.content->fail_sync(self.vfs->random_);
    if (!refused) self.content->sync();
    return refused;
  }
  static int file_size(sqlite3_file* file, sqlite3_int64* size) {
    auto& self = of(file);
    if (const int refused = self.vfs->enter(call::size)) return refused;
    return self.methods().xFileSize(self.real(), size);
  }
  static int lock(sqlite3_file* file, int how) { return of(file).methods().xLock(of(file).real(), how); }
  static int unlock(sqlite3_file* file, int how) { return of(file).methods().xUnlock(of(file).real(), how); }
  static int is_reserved(sqlite3_file* file, int* is) {
    return of(file).methods().xCheckReservedLock(of(file).real(), is);
  }
  static int control(sqlite3_file* file, int what, void* with) {
    return of(file).methods().xFileControl(of(file).real(), what, with);
  }
  static int sector_size(sqlite3_file* file) { return of(file).methods().xSectorSize(of(file).real()); }
  static int properties(sqlite3_file* file) { return of(file).methods().xDeviceCharacteristics(of(file).real()); }
};

namespace {

// Version 1: without shared memory.
const sqlite3_io_methods failing_methods = [] {
  sqlite3_io_methods all{};
  all.iVersion = 1;
  all.xClose = &failing_file::close;
  all.xRead = &failing_file::read;
  all.xWrite = &failing_file::write;
  all.xTruncate = &failing_file::truncate;
  all.xSync = &failing_file::sync;
  all.xFileSize = &failing_file::file_size;
  all.xLock = &failing_file::lock;
  all.xUnlock = &failing_file::unlock;
  all.xCheckReservedLock = &failing_file::is_reserved;
  all.xFileControl = &failing_file::control;
  all.xSectorSize = &failing_file::sector_size;
  all.xDeviceCharacteristics = &failing_file::properties;
  return all;
}();

}  // namespace

failing_vfs::failing_vfs(unsigned seed) : real_(sqlite3_vfs_find(nullptr)), mine_(*real_), random_(seed) {
  living_vfs = this;
  mine_.iVersion = 1;
  mine_.zName = "failing";
  mine_.pNext = nullptr;
  mine_.szOsFile = static_cast<int>(sizeof(failing_file)) + real_->szOsFile;
  mine_.pAppData = this;
  mine_.xOpen = &open;
  mine_.xDelete = &remove;
  // The others of the real one look at its own data.
  mine_.xAccess = [](sqlite3_vfs* which, const char* name, int flags, int* result) {
    return of(which).real_->xAccess(of(which).real_, name, flags, result);
  };
  mine_.xFullPathname = [](sqlite3_vfs* which, const char* name, int size, char* result) {
    return of(which).real_->xFullPathname(of(which).real_, name, size, result);
  };
  mine_.xCurrentTime = [](sqlite3_vfs* which, double* now) {
    return of(which).real_->xCurrentTime(of(which).real_, now);
  };
  sqlite3_vfs_register(&mine_, 1);
}

failing_vfs::~failing_vfs() {
  living_vfs = nullptr;
  sqlite3_vfs_unregister(&mine_);
  sqlite3_vfs_register(real_, 1);
}

void failing_vfs::fail(call which, int at, int result, bool lasts) {
  which_ = which;
  at_ = at;
  result_ = result;
  lasts_ = lasts;
}

void failing_vfs::begin_again() noexcept {
  heal();
  calls_ = {};
  changes_ = 0;
  end_ = end_behind_ = never;
  has_failed_ = false;
}

void failing_vfs::lose_power() {
  reserved_.clear();
  for (auto& [path, each] : files_) each.lose_power(path, random_);
}

std::uintmax_t failing_vfs::blocks_of(const std::string& path) const {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  const auto reserved = reserved_.find(path);
  return std::max<std::uintmax_t>(error ? 0 : size, reserved == reserved_.end() ? 0 : reserved->second);
}

std::uintmax_t failing_vfs::bytes() const {
  std::uintmax_t all = 0;
  for (const auto& [path, each] : files_) all += blocks_of(path);
  return all;
}

std::uintmax_t failing_vfs::room() const {
  if (most_bytes_ == 0) return std::uintmax_t{1} << 40;
  return most_bytes_ - std::min(most_bytes_, bytes());
}

bool failing_vfs::has_room(const std::string& path, std::uintmax_t end) const {
  const auto blocks = blocks_of(path);
  return most_bytes_ == 0 || end <= blocks || bytes() - blocks + end <= most_bytes_;
}

bool failing_vfs::reserve(const std::string& path, std::uintmax_t end, bool keeps_size) {
  if (!has_room(path, end)) return false;
  reserved_[path] = std::max(reserved_[path], end);
  if (!keeps_size) {
    files_[path].record_truncation(end);
    std::filesystem::resize_file(path, end);
  }
  return true;
}

int failing_vfs::enter(call which) {
  const bool changes = which == call::write || which == call::sync || which == call::truncate || which == call::remove;
  if (changes && !has_ended()) ++changes_;
  if (has_ended()) return SQLITE_IOERR;
  const int number = calls_[static_cast<std::size_t>(which)]++;
  if (which != which_ || number < at_ || (number > at_ && !lasts_)) return SQLITE_OK;
  const bool is_first = !std::exchange(has_failed_, true);
  if (is_first && end_behind_ != never) end_ = changes_ + end_behind_;
  return result_;
}

int failing_vfs::open(sqlite3_vfs* which, const char* name, sqlite3_file* file, int flags, int* flags_out) {
  auto& self = of(which);
  auto& mine = failing_file::of(file);
  std::memset(file, 0, static_cast<std::size_t>(self.mine_.szOsFile));
  if (const int refused = self.enter(call::open)) return refused;
  const int result = self.real_->xOpen(self.real_, name, mine.real(), flags, flags_out);
  if (result != SQLITE_OK) return result;
  mine.base.pMethods = &failing_methods;
  mine.vfs = &self;
  auto& [path, content] = *self.files_.try_emplace(name ? name : "").first;
  mine.path = &path;
  mine.content = &content;
  content.record_opened(path);
  return SQLITE_OK;
}

int failing_vfs::remove(sqlite3_vfs* which, const char* name, int) {
  auto& self = of(which);
  if (const int refused = self.enter(call::remove)) return refused;
  self.files_[name].record_removed();
  self.reserved_.erase(name);
  return self.real_->xDelete(self.real_, name, 0);
}

}  // namespace zkrecipes::test

// They stand for those of the system.

extern "C" int fallocate(int descriptor, int mode, off_t from, off_t size) {
  auto* vfs = zkrecipes::test::living_vfs;
  if (!vfs) return 0;
  const auto path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor));
  const bool keeps_size = (mode & FALLOC_FL_KEEP_SIZE) != 0;
  if (!vfs->says_nothing() && vfs->reserve(path, static_cast<std::uintmax_t>(from + size), keeps_size)) return 0;
  errno = vfs->says_nothing() ? EOPNOTSUPP : ENOSPC;
  return -1;
}

extern "C" int fstatvfs(int, struct statvfs* all) noexcept {
  auto* vfs = zkrecipes::test::living_vfs;
  *all = {};
  if (vfs && vfs->says_nothing()) return 0;
  all->f_frsize = 1;
  all->f_blocks = fsblkcnt_t{1} << 40;
  all->f_bavail = vfs ? vfs->room() : fsblkcnt_t{1} << 40;
  return 0;
}
