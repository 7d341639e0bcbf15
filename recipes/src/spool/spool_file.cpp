#include "spool/spool_file.hpp"

#include <utility>

#include <sqlite3.h>

#include <zkrecipes/spool_error.hpp>

#include "spool/spool_file_trouble.hpp"
#include "spool/sqlite_statement.hpp"

namespace zkrecipes::detail {

spool_file::spool_file(spool_file_settings settings) : settings_(std::move(settings)) {}

spool_file::~spool_file() { close(); }

/// Does the work and closes the file if it fails: nothing is known of it then, and nothing of it may be relied on.
template <class Work>
spool_answer spool_file::attempt(const char* doing, Work work) {
  if (!connection_) return explain(doing, SQLITE_MISUSE);
  spool_answer all;
  try {
    work(all);
  } catch (int code) {
    all = explain(doing, code);
    close();
  } catch (const refusal& why) {
    all = refuse(why);
    close();
  }
  return all;
}

spool_answer spool_file::explain(const char* doing, int code) const {
  const auto error = error_of_sqlite(code);
  const char* said = code == SQLITE_MISUSE ? "it is not open" : sqlite3_errstr(code);
  return refuse({error, std::string("could not be ") + doing + " (" + said + ", " + std::to_string(code) + ")"});
}

spool_answer spool_file::refuse(const refusal& why) const {
  spool_answer all;
  all.error = why.error;
  all.trouble = settings_.file + ": " + why.what + "; " + cure_of(why.error);
  return all;
}

spool_answer spool_file::open(std::optional<std::uint64_t> keep) {
  close();
  try {
    connect();
  } catch (int code) {
    auto failed = explain("opened", code);
    close();
    return failed;
  }
  return attempt("opened", [&](spool_answer& all) {
    if (is_new()) create();
    check_identity();
    check_health();
    set_up();
    begin_anew(keep);
    all.extent = read_extent();
    require_all_there(all.extent);
    if (settings_.has_origins) renew_origins(all.extent);
    all.extent.bytes = read_bytes();
  });
}

spool_answer spool_file::commit(const spool_change& change) {
  return attempt("written", [&](spool_answer& all) {
    const bool is_special = change.is_vital && settings_.durability != spool_durability::power;
    if (is_special) set_synchronous(spool_durability::power);
    execute("BEGIN IMMEDIATE");
    write(change);
    execute("COMMIT");
    if (is_special) set_synchronous(settings_.durability);
    if (change.is_measured) all.extent.bytes = read_bytes();
  });
}

void spool_file::write(const spool_change& change) {
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
}

spool_answer spool_file::load(std::uint64_t from, std::size_t most_messages, std::size_t most_bytes) {
  return attempt("read", [&](spool_answer& all) {
    sqlite_statement rows(connection_, "SELECT number, key, data FROM message WHERE number >= ? ORDER BY number");
    rows.bind(1, static_cast<std::int64_t>(from));
    std::size_t bytes = 0;
    while (all.rows.size() < most_messages && rows.step()) {
      spool_row next{static_cast<std::uint64_t>(rows.number(0)), rows.bytes(1), rows.bytes(2)};
      if (next.number != from + all.rows.size()) {
        throw refusal{spool_errc::corrupt, "lacks message " + std::to_string(from + all.rows.size())};
      }
      next.origin = origins_.of(next.number);
      bytes += size_of(next);
      if (bytes > most_bytes && !all.rows.empty()) break;
      all.rows.push_back(std::move(next));
    }
    if (all.rows.empty()) throw refusal{spool_errc::corrupt, "lacks message " + std::to_string(from)};
  });
}

spool_answer spool_file::finish() {
  if (!connection_) return spool_answer();
  auto all = attempt("closed", [this](spool_answer&) { execute("PRAGMA wal_checkpoint(TRUNCATE)"); });
  close();
  return all;
}

void spool_file::close() noexcept {
  append_.reset();
  remove_.reset();
  note_.reset();
  if (connection_) sqlite3_close(connection_);
  connection_ = nullptr;
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
