// How the file is opened, and what is looked at before it is relied on.
#include <cstdint>
#include <limits>

#include <sqlite3.h>

#include <boost/crc.hpp>

#include <zkrecipes/spool/spooled_producer.hpp>

#include "spool/spool_file.hpp"
#include "spool/spool_file_trouble.hpp"
#include "spool/spool_log.hpp"

namespace zkrecipes::detail {

namespace {

void add_number(boost::crc_32_type& to, std::uint64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) to.process_byte(static_cast<unsigned char>(value >> shift));
}

void sum(sqlite3_context* context, int count, sqlite3_value** values) {
  boost::crc_32_type all;
  for (int i = 0; i < count; ++i) {
    const bool is_number = sqlite3_value_type(values[i]) == SQLITE_INTEGER;
    all.process_byte(is_number ? 'n' : 'b');  // one bit makes the number 0 of an empty key
    if (is_number) {
      add_number(all, static_cast<std::uint64_t>(sqlite3_value_int64(values[i])));
      continue;
    }
    const auto* bytes = sqlite3_value_blob(values[i]);  // before its size, which is that of this form
    const auto size = static_cast<std::size_t>(sqlite3_value_bytes(values[i]));
    add_number(all, size);
    if (bytes) all.process_bytes(bytes, size);
  }
  sqlite3_result_int64(context, all.checksum());
}

/// Gives SQL the function `spool_sum`: the CRC-32 (that of zlib) of its arguments in turn, of a number "n" and its
/// eight bytes from the highest on, of a text or blob "b", the number of its bytes in the same way, and the bytes.
/// SQLite has none for what it stores, and a message with another bit would be put as it is. \throws int, the result of
/// SQLite
void add_spool_sum(sqlite3* to) {
  constexpr int how = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
  require_ok(sqlite3_create_function_v2(to, "spool_sum", -1, how, nullptr, &sum, nullptr, nullptr, nullptr));
}

constexpr std::int64_t our_application = 0x7a6b7370;  // "zksp"
constexpr std::int64_t our_version = 2;

std::string pragma(const char* name, std::int64_t value) {
  return std::string("PRAGMA ") + name + " = " + std::to_string(value);
}

/// The columns that the checksum of the file's own row covers.
constexpr const char* numbers = "path, name, put, last, base, unsent_from, summed_from";

}  // namespace

void spool_file::connect() {
  hold_ = std::make_unique<spool_hold>(settings_.file);
  constexpr int how = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  require_ok(sqlite3_open_v2(settings_.file.c_str(), &connection_, how, nullptr));
  const char* name = sqlite3_db_filename(connection_, "main");  // behind symbolic links
  log_name_ = std::string(name ? name : settings_.file) + "-wal";
  // SQLite would delete it.
  if (hold_->is_empty() && !spool_log::is_empty(log_name_)) {
    throw spool_refusal{spool_errc::corrupt, "is missing or empty, and the file with \"-wal\" behind its name is not"};
  }
  // Closing must not copy pages of a transaction that could not be synced.
  sqlite3_db_config(connection_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  add_spool_sum(connection_);
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
  execute(
      "CREATE TABLE spool (id INTEGER PRIMARY KEY CHECK (id = 1), path TEXT NOT NULL, name TEXT NOT NULL,"
      " put INTEGER NOT NULL, last INTEGER NOT NULL, base INTEGER NOT NULL, unsent_from INTEGER NOT NULL)");
  execute("CREATE TABLE message (number INTEGER PRIMARY KEY, key BLOB NOT NULL, data BLOB NOT NULL)");
  {
    sqlite_statement first(connection_, "INSERT INTO spool VALUES (1, ?, ?, 0, 0, 0, 0)");
    first.bind(1, settings_.path).bind(2, settings_.name).run();
  }
  upgrade();
  execute("COMMIT");
}

/// From version 1 to 2. Messages that are there get no sum: that would write the file anew, for which there may be no
/// room.
void spool_file::upgrade() {
  execute("ALTER TABLE message ADD COLUMN sum INTEGER");
  execute("ALTER TABLE spool ADD COLUMN summed_from INTEGER NOT NULL DEFAULT 0");
  execute("ALTER TABLE spool ADD COLUMN sum INTEGER NOT NULL DEFAULT 0");
  execute("CREATE TABLE IF NOT EXISTS origin (first INTEGER PRIMARY KEY, number INTEGER NOT NULL)");
  execute("ALTER TABLE origin ADD COLUMN sum INTEGER NOT NULL DEFAULT 0");
  execute("UPDATE origin SET sum = spool_sum(first, number)");
  execute("UPDATE spool SET summed_from = last + 1");
  execute(std::string("UPDATE spool SET sum = spool_sum(") + numbers + ")");
  execute(pragma("user_version", our_version));
}

/// As far as the file knows: version 1 does not tell.
bool spool_file::is_log_synced() {
  return version_ != 1 && value_of("SELECT count(*) FROM sqlite_master WHERE name = 'unsynced'") == 0;
}

/// Before anything is copied out of the log. The process that wrote it may have had another durability.
void spool_file::check_log() {
  const auto damage = spool_log::damage(log_name_, settings_.durability == spool_durability::power && is_log_synced());
  if (!damage.empty()) throw spool_refusal{spool_errc::corrupt, damage};
}

void spool_file::check_version() {
  if (value_of("PRAGMA application_id") != our_application) {
    throw spool_refusal{spool_errc::foreign_file, "is a database of another program"};
  }
  version_ = value_of("PRAGMA user_version");
  if (version_ < 1 || version_ > our_version) {
    throw spool_refusal{spool_errc::foreign_file, "has version " + std::to_string(version_) +
                                                      " of the format; this library reads versions up to " +
                                                      std::to_string(our_version)};
  }
}

void spool_file::check_identity() {
  const std::string is_whole = version_ == 1 ? "1" : std::string("sum = spool_sum(") + numbers + ")";
  sqlite_statement whose(connection_, "SELECT path, name, " + is_whole + " FROM spool");
  if (!whose.step()) throw spool_refusal{spool_errc::corrupt, "does not say whose it is"};
  if (whose.number(2) == 0) throw spool_refusal{spool_errc::corrupt, "has damaged numbers"};
  const auto path = whose.bytes(0);
  const auto name = whose.bytes(1);
  if (path != settings_.path || name != settings_.name) {
    throw spool_refusal{spool_errc::foreign_file, "holds the messages of producer \"" + name + "\" for " + path +
                                                      ", not those of \"" + settings_.name + "\" for " +
                                                      settings_.path};
  }
}

void spool_file::check_health() {
  sqlite_statement check(connection_, "PRAGMA quick_check(1)");
  const auto found = check.step() ? check.bytes(0) : std::string();
  if (found != "ok") throw spool_refusal{spool_errc::corrupt, "is damaged: " + found};
}

/// SQL that is true for a damaged message. Those of a file of version 1 have no sum.
std::string spool_file::is_damaged() const {
  if (version_ == 1) return "0";
  return "(CASE WHEN sum IS NULL THEN number >= (SELECT summed_from FROM spool)"
         " ELSE sum <> spool_sum(number, key, data) END)";
}

std::string spool_file::damaged_message(std::uint64_t number) {
  return "message " + std::to_string(number) + " is damaged";
}

void spool_file::check_messages() {
  require_all_there(read_extent());
  const auto found = value_of("SELECT coalesce(min(number), 0) FROM message WHERE " + is_damaged());
  if (found != 0) throw spool_refusal{spool_errc::corrupt, damaged_message(static_cast<std::uint64_t>(found))};
}

void spool_file::set_up() {
  {
    sqlite_statement mode(connection_, "PRAGMA journal_mode = WAL");
    if (!mode.step() || mode.bytes(0) != "wal") throw int{SQLITE_CANTOPEN};
    mode.run();  // the change is written behind the row
  }
  execute(pragma("journal_size_limit", 64 << 20));
  sqlite3_wal_hook(connection_, &on_log, this);
  if (settings_.most_pages != 0) execute(pragma("max_page_count", settings_.most_pages));
}

/// All that may need room, so that it is done again when there was none.
void spool_file::make_ready(spool_answer& all) {
  begin_anew();
  if (version_ == 1 || is_log_synced() != syncs_) {
    if (!reserve(64 << 10)) throw int{SQLITE_FULL};
    execute("BEGIN IMMEDIATE");
    if (version_ == 1) upgrade();
    execute(syncs_ ? "DROP TABLE IF EXISTS unsynced" : "CREATE TABLE IF NOT EXISTS unsynced (id INTEGER PRIMARY KEY)");
    execute("COMMIT");
    version_ = our_version;
    copy_log();  // what is in the log from now on is as the file says
  }
  prepare();
  all.extent = read_extent();
  if (settings_.has_origins) renew_origins(all.extent);
  keep_room_in_log();
  keep_.reset();
  is_lean_ = false;
  set_synchronous(settings_.durability);
}

void spool_file::prepare() {
  const bool has_sums = version_ != 1;
  append_.reset();
  if (has_sums) {
    const auto* append = "INSERT INTO message (number, key, data, sum) VALUES (?1, ?2, ?3, spool_sum(?1, ?2, ?3))";
    append_ = std::make_unique<sqlite_statement>(connection_, append);
  }
  remove_ = std::make_unique<sqlite_statement>(connection_, "DELETE FROM message WHERE number <= ?");
  const std::string sum = ", sum = spool_sum(path, name, ?1, max(last, ?1, ?4), ?2, ?3, summed_from)";
  note_ = std::make_unique<sqlite_statement>(
      connection_,
      "UPDATE spool SET put = ?1, base = ?2, unsent_from = ?3, last = max(last, ?1, ?4)" + (has_sums ? sum : ""));
  if (settings_.has_origins) read_origins();
}

/// NORMAL syncs when pages are copied from the log into the file. Without that a power failure damages the file, also
/// what was in it long before. A file for which there is no room yet may not say that its log is not synced, so it is.
void spool_file::set_synchronous(spool_durability as) {
  syncs_ = as == spool_durability::power || is_lean_;
  execute(std::string("PRAGMA synchronous = ") + (syncs_ ? "FULL" : "NORMAL"));
}

/// Everything is copied from the log into the file and synced, and the log begins anew. The log is whole on the disk
/// before the file is touched, so a power failure in between does no harm. Nothing is appended to the log before: it
/// would look as if what was not synced had been.
void spool_file::begin_anew() {
  set_synchronous(spool_durability::power);
  spool_log(connection_).write_again();
  execute("BEGIN IMMEDIATE");
  execute("COMMIT");  // without a transaction SQLite 3.40 refuses the next step behind `quick_check`
  copy_log();
  if (keep_ && value_of("SELECT coalesce(max(number), 0) FROM message") > static_cast<std::int64_t>(*keep_)) {
    const auto number = std::to_string(*keep_);
    execute("BEGIN IMMEDIATE");
    execute("DELETE FROM message WHERE number > " + number);
    execute("UPDATE spool SET last = min(last, " + number + ")");
    if (version_ != 1) execute(std::string("UPDATE spool SET sum = spool_sum(") + numbers + ")");
    execute("COMMIT");
  }
  set_synchronous(settings_.durability);
}

spool_extent spool_file::read_extent() {
  sqlite_statement row(connection_, "SELECT put, last, base, unsent_from FROM spool");
  if (!row.step()) throw spool_refusal{spool_errc::corrupt, "has no numbers"};
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
  if (value_of("SELECT count(*) FROM sqlite_master WHERE name = 'origin'") == 0) return;  // of a file of version 1
  sqlite_statement rows(connection_, std::string("SELECT first, number, ") +
                                         (version_ == 1 ? "1" : "sum = spool_sum(first, number)") +
                                         " FROM origin ORDER BY first");
  while (rows.step()) {
    const auto first = static_cast<std::uint64_t>(rows.number(0));
    const auto number = static_cast<std::uint64_t>(rows.number(1));
    const bool is_good = rows.number(2) != 0 && origins_.add(first, number);
    if (!is_good) throw spool_refusal{spool_errc::corrupt, "has a malformed row in its table of origins"};
  }
}

/// Forgets those of messages that were put or removed. A file that had none gets one for all its messages.
void spool_file::renew_origins(spool_extent& extent) {
  std::uint64_t random = 0;
  sqlite3_randomness(sizeof random, &random);
  extent.origin = origins_.next(random);
  const auto next = std::to_string((origins_.is_empty() ? extent.put : extent.last) + 1);
  const auto origin = std::to_string(extent.origin);
  execute("BEGIN IMMEDIATE");
  execute("DELETE FROM origin WHERE first >= " + next +
          " OR first < (SELECT max(first) FROM origin WHERE first <= " + std::to_string(extent.put + 1) + ")");
  execute("INSERT INTO origin VALUES (" + next + ", " + origin + ", spool_sum(" + next + ", " + origin + "))");
  read_origins();
  const bool has_all = origins_.of(extent.put + 1) != 0;
  if (!has_all) {
    const auto first = std::to_string(extent.put + 1);
    throw spool_refusal{spool_errc::corrupt, "does not tell the origin of message " + first};
  }
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
    throw spool_refusal{spool_errc::corrupt, "should have messages " + std::to_string(extent.put + 1) + " to " +
                                                 std::to_string(extent.last) + " and has " + std::to_string(count)};
  }
}

}  // namespace zkrecipes::detail
