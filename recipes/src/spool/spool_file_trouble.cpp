#include "spool/spool_file_trouble.hpp"

#include <cerrno>
#include <cstring>

#include <sqlite3.h>

#include <zkrecipes/spool/spooled_producer.hpp>

namespace zkrecipes::detail {

sqlite_statement::sqlite_statement(sqlite3* of, std::string_view text) {
  const int result = sqlite3_prepare_v2(of, text.data(), static_cast<int>(text.size()), &statement_, nullptr);
  if (result != SQLITE_OK) throw int{sqlite3_extended_errcode(of)};
}

sqlite_statement& sqlite_statement::bind(int place, std::int64_t value) {
  require_ok(sqlite3_bind_int64(statement_, place, value));
  return *this;
}

sqlite_statement& sqlite_statement::bind(int place, std::string_view value) {
  const auto* data = value.empty() ? "" : value.data();  // a null pointer would be NULL
  require_ok(sqlite3_bind_blob64(statement_, place, data, value.size(), SQLITE_STATIC));
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

namespace zkrecipes {

namespace {

const char* text(spool_errc value) noexcept {
  switch (value) {
    case spool_errc::disk_full: return "there is no room for the file of the spool";
    case spool_errc::io_failed: return "the file of the spool could not be read, written or synced";
    case spool_errc::no_access: return "the file of the spool could not be opened or made";
    case spool_errc::locked: return "another process or object has the file of the spool";
    case spool_errc::foreign_file: return "the file is not the spool of this producer";
    case spool_errc::corrupt: return "the file of the spool is damaged";
  }
  return "unknown error";
}

struct category final : boost::system::error_category {
  const char* name() const noexcept override { return "zkrecipes.spool"; }
  std::string message(int value) const override { return text(static_cast<spool_errc>(value)); }
};

}  // namespace

const boost::system::error_category& spool_category() noexcept {
  static const category instance;
  return instance;
}

error_code make_error_code(spool_errc value) noexcept { return {static_cast<int>(value), spool_category()}; }

}  // namespace zkrecipes

namespace zkrecipes::detail {

bool means_no_room(int why) noexcept { return why == ENOSPC || why == EDQUOT || why == EFBIG; }

void refuse_open(int why, const std::string& what) {
  error_code error = spool_errc::no_access;
  if (means_no_room(why)) error = spool_errc::disk_full;
  if (why == EIO || why == EMFILE || why == ENFILE || why == ENOMEM) error = spool_errc::io_failed;
  throw spool_refusal{error, what + "could not be opened (" + std::strerror(why) + ")"};
}

void require_ok(int result) {
  if (result != SQLITE_OK) throw int{result};
}

error_code error_of_sqlite(int code) noexcept {
  switch (code) {
    case SQLITE_IOERR_CORRUPTFS: return spool_errc::corrupt;
    case SQLITE_IOERR_NOMEM: return make_error_code(boost::system::errc::not_enough_memory);
  }
  switch (code & 0xff) {
    case SQLITE_FULL: return spool_errc::disk_full;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return spool_errc::locked;
    case SQLITE_NOTADB: return spool_errc::foreign_file;
    case SQLITE_CORRUPT:
    case SQLITE_CONSTRAINT:
    case SQLITE_ERROR: return spool_errc::corrupt;  // a table is missing or has other columns
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY: return spool_errc::no_access;
    case SQLITE_NOMEM: return make_error_code(boost::system::errc::not_enough_memory);
    default: return spool_errc::io_failed;
  }
}

namespace {

/// One word of a shell that is no option, whatever is in it.
std::string word(const std::string& text) {
  std::string all = text.starts_with('-') ? "'./" : "'";
  for (const char each : text) all += each == '\'' ? std::string("'\\''") : std::string(1, each);
  return all + "'";
}

/// Debian 12's `.recover` fails for any file; `.dump` passes over what can not be read.
std::string commands_to_read(const std::string& file) {
  const auto name = file.substr(file.rfind('/') + 1);
  const auto damaged = word(file + ".damaged");
  const auto copy = word(file + ".copy");
  return "`mkdir " + damaged + " " + copy + "; mv " + word(file) + " " + word(file + "-wal") + " " + damaged +
         "; cp -R " + damaged + "/. " + copy + "; sqlite3 " + word(file + ".copy/" + name) + " .dump`";
}

}  // namespace

std::string cure_of(const error_code& error, const std::string& file) {
  if (error.category() != spool_category()) return "it is tried again each second";
  switch (static_cast<spool_errc>(error.value())) {
    case spool_errc::disk_full: return "make room on its disk: it is tried again each second";
    case spool_errc::io_failed: return "see the log of the system and check the disk: it is tried again each second";
    case spool_errc::no_access: return "its folder has to exist, and this user has to be able to read and write there";
    case spool_errc::locked: return "end the other process or object that has it, or give each a file of its own";
    case spool_errc::foreign_file: return "give this producer another file, or move this one away";
    case spool_errc::corrupt:
      return "end the process, move the file away together with that with \"-wal\" behind its name, and read a copy of "
             "both, because sqlite3 changes them: " +
             commands_to_read(file) + ". A new file goes on behind the last message in the queue";
  }
  return "";
}

}  // namespace zkrecipes::detail
