// A prepared statement of SQLite.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <sqlite3.h>

namespace zkrecipes::detail {

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

}  // namespace zkrecipes::detail
