// The file of a spooled producer: an SQLite database.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <zkrecipes/spool/spooled_producer.hpp>

#include "spool/spool_disk.hpp"
#include "spool/spool_file_trouble.hpp"
#include "spool/spool_hold.hpp"
#include "spool/spool_origins.hpp"

struct sqlite3;

namespace zkrecipes::detail {

class sqlite_statement;

/// The producer whose messages a file holds, and how the file is written.
struct spool_file_settings {
  std::string file;
  std::string path;  ///< That of the topic or queue, behind the root of the session.
  std::string name;  ///< That of the producer.
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
