// Room for the file and its log. Without any the file is open all the same, and messages can be read and removed:
//  - what a transaction adds to the file has blocks on the disk before it begins, so to copy the log needs no room;
//  - the log is never made shorter, and begins anew when it has been copied, so to remove messages needs none either.
#include <algorithm>

#include <sqlite3.h>

#include <zkrecipes/spool/spooled_producer.hpp>

#include "spool/spool_file.hpp"
#include "spool/spool_log.hpp"
#include "spool/sqlite_statement.hpp"

namespace zkrecipes::detail {

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

}  // namespace zkrecipes::detail
