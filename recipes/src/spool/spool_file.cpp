#include "spool/spool_file.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include <sqlite3.h>

#include <zkrecipes/spool/spooled_producer.hpp>

#include "spool/spool_file_trouble.hpp"
#include "spool/spool_log.hpp"
#include "spool/sqlite_statement.hpp"

namespace zkrecipes::detail {

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
