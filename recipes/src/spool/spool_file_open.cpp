// How the file is opened, and what is looked at before it is relied on.
#include <algorithm>
#include <vector>

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <zkrecipes/spool_error.hpp>

#include "spool/spool_file.hpp"
#include "spool/sqlite_statement.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::int64_t our_application = 0x7a6b7370;  // "zksp"
constexpr std::int64_t our_version = 1;

std::string pragma(const char* name, std::int64_t value) {
  return std::string("PRAGMA ") + name + " = " + std::to_string(value);
}

/// SQLite would make it readable for everybody, as far as the umask allows. Its files beside this one get the same
/// mode. A file that is there keeps its mode; SQLite reports other errors when it tries the same.
void make_private(const std::string& file) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (descriptor >= 0) ::close(descriptor);
}

/// SQLite does the same by itself, but ignores what becomes of it: a sync of the log that has failed would be relied on
/// by the next copy, which may succeed. An error of this function is one of the transaction, which is in the log all
/// the same. Without room nothing was synced, and the next transaction tries it again.
int copy_long_log(void*, sqlite3* connection, const char* database, int pages) {
  constexpr int long_log = 1'000;
  if (pages < long_log) return SQLITE_OK;
  const int result = sqlite3_wal_checkpoint_v2(connection, database, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  return result == SQLITE_FULL ? SQLITE_OK : result;
}

void require_ok(int result) {
  if (result != SQLITE_OK) throw int{result};
}

}  // namespace

void spool_file::connect() {
  make_private(settings_.file);
  constexpr int how = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int result = sqlite3_open_v2(settings_.file.c_str(), &connection_, how, nullptr);
  if (result != SQLITE_OK) throw int{result};
  // Closing must not copy pages of a transaction that could not be synced.
  sqlite3_db_config(connection_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  // From the first access on, so that nobody else gets in between, and SQLite needs no shared memory.
  execute("PRAGMA locking_mode = EXCLUSIVE");
}

bool spool_file::is_new() {
  return value_of("SELECT count(*) FROM sqlite_master") == 0 && value_of("PRAGMA application_id") == 0;
}

/// All in one transaction, with a journal that is deleted at its end: that also syncs the folder.
void spool_file::create() {
  execute("PRAGMA synchronous = FULL");
  execute("BEGIN EXCLUSIVE");
  execute(pragma("application_id", our_application));
  execute(pragma("user_version", our_version));
  execute(
      "CREATE TABLE spool (id INTEGER PRIMARY KEY CHECK (id = 1), path TEXT NOT NULL, name TEXT NOT NULL,"
      " put INTEGER NOT NULL, last INTEGER NOT NULL, base INTEGER NOT NULL, unsent_from INTEGER NOT NULL)");
  execute("CREATE TABLE message (number INTEGER PRIMARY KEY, key BLOB NOT NULL, data BLOB NOT NULL)");
  sqlite_statement first(connection_, "INSERT INTO spool VALUES (1, ?, ?, 0, 0, 0, 0)");
  first.bind(1, settings_.path).bind(2, settings_.name).run();
  execute("COMMIT");
}

void spool_file::check_identity() {
  if (value_of("PRAGMA application_id") != our_application) {
    throw refusal{spool_errc::foreign_file, "is a database of another program"};
  }
  const auto version = value_of("PRAGMA user_version");
  if (version != our_version) {
    throw refusal{spool_errc::foreign_file, "has version " + std::to_string(version) + " of the format; this library" +
                                                " reads version " + std::to_string(our_version)};
  }
  sqlite_statement whose(connection_, "SELECT path, name FROM spool");
  if (!whose.step()) throw refusal{spool_errc::corrupt, "does not say whose it is"};
  const auto path = whose.bytes(0);
  const auto name = whose.bytes(1);
  if (path != settings_.path || name != settings_.name) {
    throw refusal{spool_errc::foreign_file, "holds the messages of producer \"" + name + "\" for " + path +
                                                ", not those of \"" + settings_.name + "\" for " + settings_.path};
  }
}

void spool_file::check_health() {
  sqlite_statement check(connection_, "PRAGMA quick_check(1)");
  const auto found = check.step() ? check.bytes(0) : std::string();
  if (found != "ok") throw refusal{spool_errc::corrupt, "is damaged: " + found};
}

void spool_file::set_up() {
  {
    sqlite_statement mode(connection_, "PRAGMA journal_mode = WAL");
    if (!mode.step() || mode.bytes(0) != "wal") throw int{SQLITE_CANTOPEN};
    mode.run();  // the change is written behind the row
  }
  execute(pragma("journal_size_limit", 64 << 20));
  sqlite3_wal_hook(connection_, &copy_long_log, nullptr);
  if (settings_.most_pages != 0) execute(pragma("max_page_count", settings_.most_pages));
  append_ = std::make_unique<sqlite_statement>(connection_, "INSERT INTO message VALUES (?, ?, ?)");
  remove_ = std::make_unique<sqlite_statement>(connection_, "DELETE FROM message WHERE number <= ?");
  note_ = std::make_unique<sqlite_statement>(
      connection_, "UPDATE spool SET put = ?1, base = ?2, unsent_from = ?3, last = max(last, ?1, ?4)");
}

/// NORMAL syncs when pages are copied from the log into the file. Without that a power failure damages the file, also
/// what was in it long before.
void spool_file::set_synchronous(spool_durability as) {
  execute(std::string("PRAGMA synchronous = ") + (as == spool_durability::power ? "FULL" : "NORMAL"));
}

/// A sync that failed is reported once, perhaps to a process that has ended. The system takes the pages for synced
/// then, and the next sync succeeds without them. Pages that are written again are synced again.
void spool_file::write_log_again() {
  sqlite3_file* log = nullptr;
  require_ok(sqlite3_file_control(connection_, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log));
  if (!log || !log->pMethods) return;
  const auto& calls = *log->pMethods;
  sqlite3_int64 size = 0;
  require_ok(calls.xFileSize(log, &size));
  std::vector<char> piece(std::size_t{1} << 16);  // SQLite's files take less than 128 KiB in one call
  for (sqlite3_int64 at = 0; at < size; at += static_cast<sqlite3_int64>(piece.size())) {
    const auto count = static_cast<int>(std::min(size - at, static_cast<sqlite3_int64>(piece.size())));
    require_ok(calls.xRead(log, piece.data(), count, at));
    require_ok(calls.xWrite(log, piece.data(), count, at));
  }
}

/// Everything is copied from the log into the file and synced, and the log begins anew. The log is whole on the disk
/// before the file is touched, so a power failure in between does no harm.
void spool_file::begin_anew(std::optional<std::uint64_t> keep) {
  set_synchronous(spool_durability::power);
  write_log_again();
  execute("BEGIN IMMEDIATE");
  if (keep) {
    const auto number = std::to_string(*keep);
    execute("DELETE FROM message WHERE number > " + number);
    execute("UPDATE spool SET last = min(last, " + number + ")");
  }
  execute("COMMIT");  // without a transaction SQLite 3.40 refuses the next step behind `quick_check`
  {
    sqlite_statement copy(connection_, "PRAGMA wal_checkpoint(TRUNCATE)");
    if (!copy.step() || copy.number(0) != 0) throw int{SQLITE_BUSY};
  }
  set_synchronous(settings_.durability);
}

spool_extent spool_file::read_extent() {
  sqlite_statement row(connection_, "SELECT put, last, base, unsent_from FROM spool");
  if (!row.step()) throw refusal{spool_errc::corrupt, "has no numbers"};
  spool_extent all;
  all.put = static_cast<std::uint64_t>(row.number(0));
  all.last = static_cast<std::uint64_t>(row.number(1));
  all.base = row.number(2);
  all.unsent_from = static_cast<std::uint64_t>(row.number(3));
  return all;
}

std::uint64_t spool_file::read_bytes() {
  return static_cast<std::uint64_t>(value_of("SELECT coalesce(sum(length(key) + length(data) + 64), 0) FROM message"));
}

void spool_file::read_origins() {
  origins_.clear();
  sqlite_statement rows(connection_, "SELECT first, number FROM origin ORDER BY first");
  while (rows.step()) {
    const auto first = static_cast<std::uint64_t>(rows.number(0));
    const auto number = static_cast<std::uint64_t>(rows.number(1));
    if (!origins_.add(first, number)) throw refusal{spool_errc::corrupt, "has an origin that is none"};
  }
}

/// Forgets those of messages that were put or removed. A file that had none gets one for all its messages.
void spool_file::renew_origins(spool_extent& extent) {
  execute("BEGIN IMMEDIATE");
  execute("CREATE TABLE IF NOT EXISTS origin (first INTEGER PRIMARY KEY, number INTEGER NOT NULL)");
  read_origins();
  std::uint64_t random = 0;
  sqlite3_randomness(sizeof random, &random);
  extent.origin = origins_.next(random);
  const auto next = std::to_string((origins_.is_empty() ? extent.put : extent.last) + 1);
  execute("DELETE FROM origin WHERE first >= " + next +
          " OR first < (SELECT max(first) FROM origin WHERE first <= " + std::to_string(extent.put + 1) + ")");
  execute("INSERT INTO origin VALUES (" + next + ", " + std::to_string(extent.origin) + ")");
  read_origins();
  const bool has_all = origins_.of(extent.put + 1) != 0;
  if (!has_all)
    throw refusal{spool_errc::corrupt, "does not tell the origin of message " + std::to_string(extent.put + 1)};
  execute("COMMIT");
}

/// The messages follow each other without a hole.
void spool_file::require_all_there(const spool_extent& extent) {
  sqlite_statement row(connection_, "SELECT count(*), coalesce(min(number), 0), coalesce(max(number), 0) FROM message");
  row.step();
  const auto count = static_cast<std::uint64_t>(row.number(0));
  const auto first = static_cast<std::uint64_t>(row.number(1));
  const auto last = static_cast<std::uint64_t>(row.number(2));
  const bool fits = extent.put <= extent.last && count == extent.last - extent.put &&
                    (count == 0 || (first == extent.put + 1 && last == extent.last));
  if (!fits) {
    throw refusal{spool_errc::corrupt, "should have messages " + std::to_string(extent.put + 1) + " to " +
                                           std::to_string(extent.last) + " and has " + std::to_string(count)};
  }
}

}  // namespace zkrecipes::detail
