#include "spool/spool_file.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <limits>
#include <mutex>
#include <new>
#include <set>
#include <utility>

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <zkrecipes/spool/spooled_producer.hpp>

#include "spool/spool_file_trouble.hpp"
#include "spool/spool_log.hpp"

namespace zkrecipes::detail {

// Room for the file and its log. Without any the file is open all the same, and messages can be read and removed:
// - what a transaction adds to the file has blocks on the disk before it begins, so to copy the log needs no room;
// - the log is never made shorter, and begins anew when it has been copied, so to remove messages needs none either.

namespace {

constexpr int long_log = 1'000;
constexpr std::int64_t shortest_log = 512 << 10;
constexpr std::int64_t size_of_frame = 24 + 4'096;
constexpr std::int64_t most_of_piece = 64 << 10;
constexpr std::int64_t spare = 128 << 10;  // pages between the root and the messages, and a page that is not full

bool is_full(int code) noexcept { return (code & 0xff) == SQLITE_FULL; }

}  // namespace

void spool_file::copy_log() {
  sqlite_statement copy(connection_, "PRAGMA wal_checkpoint(RESTART)");
  if (!copy.step() || copy.number(0) != 0) throw int{SQLITE_BUSY};
  frames_ = 0;
}

int spool_file::on_log(void* whose, sqlite3*, const char* database, int pages) {
  return static_cast<spool_file*>(whose)->on_log_written(database, pages);
}

/// SQLite copies a long log by itself, but ignores what becomes of it: a sync of the log that has failed would be
/// relied on by the next copy, which may succeed. An error of this function is one of the transaction, which is in the
/// log all the same. Without room nothing was synced, and the next transaction tries it again.
int spool_file::on_log_written(const char* database, int pages) noexcept {
  frames_ = pages;
  if (pages < long_log) {
    if (syncs_) spool_log(connection_).mark(pages);
    return SQLITE_OK;
  }
  int all = 0;
  int copied = 0;
  const int result = sqlite3_wal_checkpoint_v2(connection_, database, SQLITE_CHECKPOINT_PASSIVE, &all, &copied);
  if (result == SQLITE_OK && all == copied) frames_ = 0;
  return result == SQLITE_FULL ? SQLITE_OK : result;
}

/// Messages can be removed without that.
void spool_file::make_ready_again(const spool_change& change, spool_answer& all) {
  try {
    make_ready(all);
  } catch (int code) {
    const bool can_wait = is_full(code) && change.rows.empty() && !change.is_vital && roll_back();
    if (!can_wait) throw;
  }
}

/// Half of a page can stay empty where messages of one size fit badly. A long log gives its room to the file. When the
/// log is copied, SQLite gives the file its size, and the system takes back what was reserved behind that.
void spool_file::require_room(const spool_change& change) {
  const auto bytes = spare + 2 * static_cast<std::int64_t>(change.room + size_of(change.rows));
  const spool_log log(connection_);
  if (!reserve(bytes) && log.size() > shortest_log) {
    copy_log();
    log.shorten(shortest_log);
  }
  if (!reserve(bytes)) throw int{SQLITE_FULL};
  const auto has_room = [&] {
    const auto in_log = log.size() - frames_ * size_of_frame;
    return in_log >= bytes || hold_->room() >= bytes - std::max<std::int64_t>(in_log, 0);
  };
  if (has_room()) return;
  copy_log();
  if (!reserve(bytes) || !has_room()) throw int{SQLITE_FULL};
}

/// Takes blocks of the disk for what is in the log, and for this much beside what is in use.
bool spool_file::reserve(std::int64_t bytes) {
  const auto size_of_page = value_of("PRAGMA page_size");
  const auto all = value_of("PRAGMA page_count") * size_of_page;
  const auto unused = value_of("PRAGMA freelist_count") * size_of_page;
  return hold_->reserve(std::max(all, all - unused + bytes));
}

/// False: there is no room, and no messages are appended, so that it can be done in pieces.
bool spool_file::has_written(const spool_change& change) {
  try {
    write(change);
  } catch (int code) {
    const bool has_other_way = is_full(code) && change.rows.empty() && roll_back();
    if (!has_other_way) throw;
    return false;
  }
  return true;
}

/// Each changes few pages, which have room in a short log: those that become free are not written, though Debian's
/// SQLite fills them with zeroes otherwise. What the file says of messages that are left stays as it is.
void spool_file::remove_in_pieces(std::uint64_t put) {
  const auto now = read_extent();
  execute("PRAGMA secure_delete = OFF");
  copy_log();
  for (auto end = end_of_piece(put); end != 0; end = end_of_piece(put)) {
    spool_change one;
    one.put = end;
    one.base = now.base;
    one.unsent_from = now.unsent_from;
    write(one);
    copy_log();
  }
}

/// 0: there is no message up to `put`.
std::uint64_t spool_file::end_of_piece(std::uint64_t put) {
  sqlite_statement rows(connection_,
                        "SELECT number, length(key) + length(data) FROM message WHERE number <= ?"
                        " ORDER BY number LIMIT 64");
  rows.bind(1, static_cast<std::int64_t>(put));
  std::uint64_t end = 0;
  for (std::int64_t bytes = 0; bytes < most_of_piece && rows.step(); bytes += rows.number(1)) {
    end = static_cast<std::uint64_t>(rows.number(0));
  }
  return end;
}

/// Zeroes are an empty log. Without room it is done when the file is opened next.
void spool_file::keep_room_in_log() {
  try {
    spool_log(connection_).extend(shortest_log);
  } catch (int code) {
    if (!is_full(code)) throw;
  }
}

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

spool_file::spool_file(spool_file_settings settings) : settings_(std::move(settings)) {}

spool_file::~spool_file() { close(); }

/// Does the work and closes the file if it fails: nothing is known of it then, and nothing of it may be relied on. But
/// if there was no room, the last frame of the transaction is not in the log, so it has not happened.
template <class Work>
spool_answer spool_file::attempt(const char* doing, Work work) {
  spool_answer all;
  try {
    work(all);
  } catch (int code) {
    const bool stays_open = is_usable_ && (code & 0xff) == SQLITE_FULL && roll_back();
    if (!stays_open) close();
    const auto extent = all.extent;  // what was made ready meanwhile stays so
    all = explain(doing, code);
    all.extent = extent;
    all.stays_open = stays_open;
    all.is_lean = is_lean_;
  } catch (const spool_refusal& why) {
    close();
    all = refuse(why);
  } catch (const std::bad_alloc&) {
    close();
    all = explain(doing, SQLITE_NOMEM);
  } catch (const std::exception& why) {
    close();
    all = refuse({spool_errc::io_failed, std::string("could not be ") + doing + " (" + why.what() + ")"});
  }
  return all;
}

bool spool_file::roll_back() noexcept {
  try {
    if (sqlite3_get_autocommit(connection_) == 0) execute("ROLLBACK");
    set_synchronous(settings_.durability);
  } catch (...) {
    return false;
  }
  return true;
}

spool_answer spool_file::explain(const char* doing, int code) const {
  const auto error = error_of_sqlite(code);
  const char* said = code == SQLITE_MISUSE ? "it is not open" : sqlite3_errstr(code);
  return refuse({error, std::string("could not be ") + doing + " (" + said + ", " + std::to_string(code) + ")"});
}

spool_answer spool_file::refuse(const spool_refusal& why) const {
  spool_answer all;
  all.error = why.error;
  all.trouble = settings_.file + ": " + why.what + "; " + cure_of(why.error, settings_.file);
  return all;
}

spool_answer spool_file::open(std::optional<std::uint64_t> keep) {
  close();
  keep_ = keep;
  return attempt("opened", [&](spool_answer& all) {
    connect();
    if (is_new()) create();
    check_version();
    check_log();
    check_identity();
    check_health();
    check_messages();
    set_up();
    try {
      make_ready(all);
    } catch (int code) {
      if ((code & 0xff) != SQLITE_FULL || !roll_back()) throw;
      all = explain("made ready", code);
      all.stays_open = all.is_lean = is_lean_ = true;
      set_synchronous(settings_.durability);
      prepare();
      all.extent = read_extent();
      if (keep_) all.extent.last = std::min(all.extent.last, *keep_);
    }
    all.extent.bytes = read_bytes();
    is_usable_ = true;
  });
}

spool_answer spool_file::commit(const spool_change& change) {
  if (!connection_) return explain("written", SQLITE_MISUSE);
  return attempt("written", [&](spool_answer& all) {
    if (is_lean_) make_ready_again(change, all);
    if (change.room != 0 || !change.rows.empty()) require_room(change);
    const bool is_special = change.is_vital && settings_.durability != spool_durability::power;
    if (is_special) set_synchronous(spool_durability::power);
    if (!has_written(change)) {
      if (is_special) set_synchronous(spool_durability::power);
      remove_in_pieces(change.put);
      write(change);
    }
    if (is_special) set_synchronous(settings_.durability);
    if (change.is_measured) all.extent.bytes = read_bytes();
    all.is_lean = is_lean_;
  });
}

void spool_file::write(const spool_change& change) {
  execute("BEGIN IMMEDIATE");
  std::uint64_t last = 0;
  for (const auto& each : change.rows) {
    append_->bind(1, static_cast<std::int64_t>(each->number)).bind(2, each->key).bind(3, each->data).run();
    last = each->number;
  }
  remove_->bind(1, static_cast<std::int64_t>(change.put)).run();
  note_->bind(1, static_cast<std::int64_t>(change.put))
      .bind(2, change.base)
      .bind(3, static_cast<std::int64_t>(change.unsent_from))
      .bind(4, static_cast<std::int64_t>(last))
      .run();
  execute("COMMIT");
}

spool_answer spool_file::load(std::uint64_t from, std::size_t most_messages, std::size_t most_bytes) {
  if (!connection_) return explain("read", SQLITE_MISUSE);
  return attempt("read", [&](spool_answer& all) {
    sqlite_statement rows(
        connection_, "SELECT number, key, data, " + is_damaged() + " FROM message WHERE number >= ? ORDER BY number");
    rows.bind(1, static_cast<std::int64_t>(from));
    std::size_t bytes = 0;
    while (all.rows.size() < most_messages && rows.step()) {
      spool_row next{static_cast<std::uint64_t>(rows.number(0)), rows.bytes(1), rows.bytes(2)};
      if (next.number != from + all.rows.size()) {
        throw spool_refusal{spool_errc::corrupt, "lacks message " + std::to_string(from + all.rows.size())};
      }
      if (rows.number(3) != 0) throw spool_refusal{spool_errc::corrupt, damaged_message(next.number)};
      next.origin = origins_.of(next.number);
      bytes += size_of(next);
      if (bytes > most_bytes && !all.rows.empty()) break;
      all.rows.push_back(std::move(next));
    }
    if (all.rows.empty()) throw spool_refusal{spool_errc::corrupt, "lacks message " + std::to_string(from)};
  });
}

spool_answer spool_file::finish() {
  if (!connection_) return spool_answer();
  auto all = attempt("closed", [this](spool_answer&) {
    copy_log();
    spool_log(connection_).clear();
  });
  close();
  return all;
}

void spool_file::close() noexcept {
  append_.reset();
  remove_.reset();
  note_.reset();
  if (connection_) sqlite3_close(connection_);
  connection_ = nullptr;
  hold_.reset();  // behind SQLite, whose locks of the file end with a descriptor of it
  is_usable_ = is_lean_ = false;
  frames_ = 0;
}

void spool_file::execute(const std::string& sql) {
  if (sqlite3_exec(connection_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    throw int{sqlite3_extended_errcode(connection_)};
  }
}

std::int64_t spool_file::value_of(const std::string& query) {
  sqlite_statement one(connection_, query);
  return one.step() ? one.number(0) : 0;
}

}  // namespace zkrecipes::detail
