#include "spool/sqlite_statement.hpp"

namespace zkrecipes::detail {

namespace {

void require_ok(sqlite3* whose, int result) {
  if (result != SQLITE_OK) throw int{whose ? sqlite3_extended_errcode(whose) : result};
}

}  // namespace

sqlite_statement::sqlite_statement(sqlite3* of, std::string_view text) {
  require_ok(of, sqlite3_prepare_v2(of, text.data(), static_cast<int>(text.size()), &statement_, nullptr));
}

sqlite_statement& sqlite_statement::bind(int place, std::int64_t value) {
  require_ok(nullptr, sqlite3_bind_int64(statement_, place, value));
  return *this;
}

sqlite_statement& sqlite_statement::bind(int place, std::string_view value) {
  const auto* data = value.empty() ? "" : value.data();  // a null pointer would be NULL
  require_ok(nullptr, sqlite3_bind_blob64(statement_, place, data, value.size(), SQLITE_STATIC));
  return *this;
}

bool sqlite_statement::step() {
  const int result = sqlite3_step(statement_);
  if (result == SQLITE_ROW) return true;
  const int code = result == SQLITE_DONE ? SQLITE_OK : sqlite3_extended_errcode(sqlite3_db_handle(statement_));
  sqlite3_reset(statement_);
  if (code != SQLITE_OK || result != SQLITE_DONE) throw int{code != SQLITE_OK ? code : result};
  return false;
}

std::string sqlite_statement::bytes(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  return data ? std::string(data, size) : std::string();
}

}  // namespace zkrecipes::detail
