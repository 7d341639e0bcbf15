// What the results of SQLite mean for a spool.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include <zkrecipes/error.hpp>

namespace zkrecipes::detail {

/// A prepared statement of SQLite.
/// \throws int, the extended result code of SQLite, from every function that can fail.
class sqlite_statement {
 public:
  sqlite_statement(sqlite3* of, std::string_view text);
  sqlite_statement(const sqlite_statement&) = delete;
  sqlite_statement& operator=(const sqlite_statement&) = delete;
  ~sqlite_statement() { sqlite3_finalize(statement_); }

  sqlite_statement& bind(int place, std::int64_t value);
  sqlite_statement& bind(int place, std::string_view value);
  /// True if there is a row. When there is no further one, the statement can be bound and run again.
  bool step();
  void run() {
    while (step()) {
    }
  }
  void reset() noexcept { sqlite3_reset(statement_); }

  std::int64_t number(int column) const { return sqlite3_column_int64(statement_, column); }
  std::string bytes(int column) const;

 private:
  sqlite3_stmt* statement_ = nullptr;
};

/// Thrown for a file that is not used as it is.
struct spool_refusal {
  error_code error;
  std::string what;
};

bool means_no_room(int why) noexcept;
/// For what the system could not open.
/// \throws spool_refusal
[[noreturn]] void refuse_open(int why, const std::string& what = {});
/// \throws int, a result of SQLite that is none of success
void require_ok(int result);
error_code error_of_sqlite(int code) noexcept;
/// What the operator can do, behind what is wrong with the file.
std::string cure_of(const error_code& error, const std::string& file);

}  // namespace zkrecipes::detail
