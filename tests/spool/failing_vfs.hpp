// The file system of SQLite, with calls that fail on command.
#pragma once

#include <array>
#include <limits>
#include <map>
#include <random>
#include <string>

#include <sqlite3.h>

#include "spool/unreliable_file.hpp"

namespace zkrecipes::test {

/// For as long as it lives, SQLite works on it by default. A sync reaches no disk: `lose_power` takes what was not
/// synced. It gives SQLite no shared memory, which the file of a spool has to do without.
class failing_vfs {
 public:
  enum class call { read, write, sync, truncate, size, open, remove };
  static constexpr std::size_t call_count = 7;

  explicit failing_vfs(unsigned seed = 1);
  failing_vfs(const failing_vfs&) = delete;
  failing_vfs& operator=(const failing_vfs&) = delete;
  ~failing_vfs();

  /// The call with this number, counted from 0, fails with this result; with `lasts` those behind it too. A write
  /// that fails for want of room has done its first half.
  void fail(call which, int at, int result, bool lasts = false);
  void heal() noexcept { at_ = never; }
  /// A call has failed on command.
  bool has_failed() const noexcept { return has_failed_; }
  int calls(call which) const noexcept { return calls_[static_cast<std::size_t>(which)]; }

  /// The process ends when so many more calls have changed a file after the first failure: what follows is not done.
  void end_behind_failure(int changes) noexcept { end_behind_ = changes; }
  bool has_ended() const noexcept { return changes_ > end_; }
  /// Each file is what is on the disk. No file is open.
  void lose_power();
  /// The next process begins, with faults and counts of its own.
  void begin_again() noexcept;

 private:
  static constexpr int never = std::numeric_limits<int>::max();
  friend struct failing_file;

  static failing_vfs& of(sqlite3_vfs* which) { return *static_cast<failing_vfs*>(which->pAppData); }
  static int open(sqlite3_vfs* which, const char* name, sqlite3_file* file, int flags, int* flags_out);
  static int remove(sqlite3_vfs* which, const char* name, int sync_folder);
  /// What this call ends with, without being done, or `SQLITE_OK`.
  int enter(call which);

  sqlite3_vfs* real_;
  sqlite3_vfs mine_;
  std::map<std::string, unreliable_file> files_;
  std::mt19937 random_;
  std::array<int, call_count> calls_{};
  call which_ = call::sync;
  int at_ = never;
  int result_ = SQLITE_OK;
  bool lasts_ = false;
  bool has_failed_ = false;
  int changes_ = 0;
  int end_behind_ = never;
  int end_ = never;
};

}  // namespace zkrecipes::test
