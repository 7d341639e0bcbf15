#include "spool/spool_file_trouble.hpp"

#include <sqlite3.h>

#include <zkrecipes/spool_error.hpp>

namespace zkrecipes::detail {

error_code error_of_sqlite(int code) noexcept {
  if (code == SQLITE_IOERR_CORRUPTFS) return spool_errc::corrupt;
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
    default: return spool_errc::io_failed;
  }
}

const char* cure_of(const error_code& error) noexcept {
  switch (static_cast<spool_errc>(error.value())) {
    case spool_errc::disk_full: return "make room on its disk: it is tried again each second";
    case spool_errc::io_failed: return "see the log of the system and check the disk: it is tried again each second";
    case spool_errc::no_access: return "its folder has to exist, and this user has to be able to write there";
    case spool_errc::locked: return "end the other process or object that has it, or give each a file of its own";
    case spool_errc::foreign_file: return "give this producer another file, or move this one away";
    case spool_errc::corrupt:
      return "keep a copy, read what is left with `sqlite3 FILE .recover`, and move it away: a new file goes on behind "
             "the last message in the queue";
  }
  return "";
}

}  // namespace zkrecipes::detail
