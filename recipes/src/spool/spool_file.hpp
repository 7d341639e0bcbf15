// The file of a spooled producer: an SQLite database.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/stat.h>

#include <zkrecipes/spool/spooled_producer.hpp>

#include "spool/spool_disk.hpp"
#include "spool/spool_file_trouble.hpp"

namespace zkrecipes::detail {

/// Which messages of a file have which origin.
/// A message is told from all others by its number in the file and by an origin, a random number that is drawn each
/// time the file is opened, for the messages that are appended until it is opened again. A power failure can take the
/// end of a file, and a file can be copied: the numbers are used again then, and the origins are not. A file knows the
/// origins of the messages in it. Only files for targets that do not know what was put have them. It does no I/O.
class spool_origins {
 public:
  /// The messages from `first` on have this origin. False: that is no origin, or not behind the ones before.
  bool add(std::uint64_t first, std::uint64_t origin) {
    const bool is_good = origin > 0 && origin <= largest && (all_.empty() || first > all_.back().first);
    if (is_good) all_.push_back({first, origin});
    return is_good;
  }
  void clear() noexcept { all_.clear(); }
  bool is_empty() const noexcept { return all_.empty(); }
  /// The origin of a message; 0: none.
  std::uint64_t of(std::uint64_t number) const {
    const auto behind = std::ranges::upper_bound(all_, number, {}, &range::first);
    return behind == all_.begin() ? 0 : (behind - 1)->origin;
  }
  /// For the next messages, made of a random number. It is larger than those before, so that receivers can forget the
  /// smallest one first; what no file in use can reach, 4 000 000 openings, begins at the bottom again. It is larger
  /// than the number of any transaction of ZooKeeper that a producer of the same name could have for its epoch.
  std::uint64_t next(std::uint64_t random) const {
    constexpr auto lowest = std::uint64_t{1} << 62;
    constexpr auto spread = std::uint64_t{1} << 61;
    constexpr auto step = std::uint64_t{1} << 40;
    std::uint64_t last = 0;
    for (const auto& each : all_) last = std::max(last, each.origin);
    const bool goes_on = last >= lowest && last < largest - step;
    return goes_on ? last + 1 + random % step : lowest + random % spread;
  }

 private:
  static constexpr auto largest = (std::uint64_t{1} << 63) - 1;  // of SQLite
  struct range {
    std::uint64_t first;
    std::uint64_t origin;
  };
  std::vector<range> all_;
};

/// Keeps the file of a spool for one object.
/// Makes the file if it is missing, readable by its owner only, and locks it for as long as it lives, beside SQLite's
/// own lock: that is one of POSIX, which the system drops as soon as any code of this process closes a descriptor of
/// the file. So a second object of this process is refused before it opens the file. Thread safety: safe.
class spool_hold {
 public:
  /// \throws spool_refusal
  explicit spool_hold(const std::string& file);
  spool_hold(const spool_hold&) = delete;
  spool_hold& operator=(const spool_hold&) = delete;
  ~spool_hold();

  bool is_empty() const noexcept;
  /// Takes blocks of the disk for a file of this size, which stays as long as it is: SQLite would note a larger one in
  /// its log, and a power failure takes a size that was not synced. False: there are not so many.
  bool reserve(std::int64_t size) const noexcept;
  /// Bytes that the file system has left for this user.
  std::int64_t room() const noexcept;

 private:
  spool_hold() = default;
  void take(const struct stat& file);

  int descriptor_ = -1;
  std::optional<std::pair<dev_t, ino_t>> id_;
};

}  // namespace zkrecipes::detail

struct sqlite3;

namespace zkrecipes::detail {

class sqlite_statement;

/// The producer whose messages a file holds, and how the file is written.
struct spool_file_settings {
  std::string file;
  std::string path;  ///< That of the topic or queue, behind the root of the session.
  std::string name;  ///< The name of the producer.
  spool_durability durability = spool_durability::power;
  std::int64_t most_pages = 0;  ///< For the tests: a disk with so much room. 0: no bound.
  bool has_origins = false;     ///< See `spool_origins`.
};

/// Every function may wait for the disk. So only the thread of an `sqlite_disk` has one: nothing else makes it, and a
/// job of that thread is the only way to it.
class spool_file {
 public:
  explicit spool_file(spool_file_settings settings);
  spool_file(const spool_file&) = delete;
  spool_file& operator=(const spool_file&) = delete;
  ~spool_file();

  /// See `spool_disk`. After an error the file is closed, unless the answer says that it stays open.
  spool_answer open(std::optional<std::uint64_t> keep);
  spool_answer commit(const spool_change& change);
  spool_answer load(std::uint64_t from, std::size_t most_messages, std::size_t most_bytes);
  void close() noexcept;
  /// Copies what is in the log into the file, and closes it.
  spool_answer finish();

 private:
  template <class Work>
  spool_answer attempt(const char* doing, Work work);
  spool_answer explain(const char* doing, int code) const;
  spool_answer refuse(const spool_refusal& why) const;
  bool roll_back() noexcept;
  void execute(const std::string& sql);
  std::int64_t value_of(const std::string& query);
  void set_synchronous(spool_durability as);

  // Opening.
  void connect();
  bool is_new();
  void create();
  void upgrade();
  void check_log();
  bool is_log_synced();
  void check_version();
  void check_identity();
  void check_health();
  void check_messages();
  std::string is_damaged() const;
  static std::string damaged_message(std::uint64_t number);
  void require_all_there(const spool_extent& extent);
  void set_up();
  void make_ready(spool_answer& all);
  void begin_anew();
  void prepare();
  spool_extent read_extent();
  std::uint64_t read_bytes();
  void read_origins();
  void renew_origins(spool_extent& extent);

  // Room.
  void copy_log();
  static int on_log(void* whose, sqlite3* connection, const char* database, int pages);
  int on_log_written(const char* database, int pages) noexcept;
  void make_ready_again(const spool_change& change, spool_answer& all);
  void require_room(const spool_change& change);
  bool reserve(std::int64_t bytes);
  bool has_written(const spool_change& change);
  void remove_in_pieces(std::uint64_t put);
  std::uint64_t end_of_piece(std::uint64_t put);
  void keep_room_in_log();
  void write(const spool_change& change);

  spool_file_settings settings_;
  spool_origins origins_;
  std::unique_ptr<spool_hold> hold_;
  std::string log_name_;
  sqlite3* connection_ = nullptr;
  std::int64_t version_ = 0;
  bool is_usable_ = false;
  bool is_lean_ = false;               // see `spool_answer`
  std::optional<std::uint64_t> keep_;  // what is behind it is to be removed
  bool syncs_ = false;                 // each transaction
  std::int64_t frames_ = 0;            // in the log that are not all in the file yet
  std::unique_ptr<sqlite_statement> append_;
  std::unique_ptr<sqlite_statement> remove_;
  std::unique_ptr<sqlite_statement> note_;
};

}  // namespace zkrecipes::detail
