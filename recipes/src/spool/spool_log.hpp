// The log of the file of a spooled producer: that of SQLite, with the name of the file and "-wal".
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sqlite3.h>

namespace zkrecipes::detail {

/// SQLite takes the first bad frame of its log for its end, and overwrites what is behind it. That is right where the
/// power has failed during a transaction, and loses what was confirmed where the disk has changed a bit. So a mark is
/// written behind the last frame that is known to be on the disk: the head of a frame with the salts of the log, which
/// SQLite takes for its end, and which the next transaction overwrites.
class spool_log {
 public:
  explicit spool_log(sqlite3* of) noexcept : of_(of) {}

  /// Whether there is none, or one of zeroes. See `spool_file::keep_room_in_log`.
  /// \throws spool_refusal, std::ios_base::failure
  static bool is_empty(const std::string& log);
  /// Whether a log has lost frames that had been synced; in words, empty: it has not. `is_synced`: so is each
  /// transaction before the next one begins.
  /// \throws spool_refusal, std::ios_base::failure
  static std::string damage(const std::string& log, bool is_synced);

  /// All up to this frame are on the disk. A failure does no harm.
  void mark(int frames) const noexcept;
  std::int64_t size() const;
  /// A sync that failed is reported once, perhaps to a process that has ended. The system takes the pages for synced
  /// then, and the next sync succeeds without them. Pages that are written again are synced again.
  void write_again() const;
  /// Makes it at least so long. A full disk takes what has a place in it already.
  void extend(std::int64_t size) const;
  // When it has been copied and all of it is in the file. A log that is cut off without `clear`, or is overwritten from
  // its end, has a good beginning, which SQLite would copy again over what came later.
  void shorten(std::int64_t size) const;
  /// It is empty: its head is zeroes.
  void clear() const;

 private:
  void sync() const;
  sqlite3_file* file() const;

  sqlite3* of_;
};

}  // namespace zkrecipes::detail
