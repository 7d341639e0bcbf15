// The file system of SQLite, with calls that fail on command.
#pragma once

#include <array>
#include <cstdint>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <sqlite3.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include "spool/simulated_disk.hpp"
#include "spool/spool_file.hpp"

namespace zkrecipes::test {

/// A file whose last writes a power failure takes.
/// Knows what of a file is on the disk, and what was done to it since its last sync.
class unreliable_file {
 public:
  /// It is there: as it is, it is on the disk, unless it is known already.
  void record_opened(const std::string& path) {
    if (std::exchange(is_there_, true)) return;
    std::ifstream in(path, std::ios::binary);
    on_disk_.assign(std::istreambuf_iterator<char>(in), {});
  }
  void record_removed() { *this = unreliable_file(); }
  void handle_write(std::size_t at, std::string data) { since_.push_back({at, std::move(data), false}); }
  void record_truncation(std::size_t size) { since_.push_back({size, {}, true}); }

  void sync() {
    for (const auto& each : std::exchange(since_, {})) apply(each);
  }
  /// As Linux does it: what could not be written counts as written, so no later sync brings it to the disk. A part may
  /// have been written: the first changes, or some here and there.
  void fail_sync(std::mt19937& random) {
    const bool is_in_order = random() % 2;
    auto left = is_in_order && !since_.empty() ? random() % since_.size() : 0;
    for (const auto& each : std::exchange(since_, {})) {
      const bool is_written = is_in_order ? left > 0 : random() % 2;
      if (is_written) apply(each);
      if (left > 0) --left;
    }
  }
  /// The disk wrote some of what was not synced by itself.
  void lose_power(const std::string& path, std::mt19937& random) {
    if (!is_there_) return;
    fail_sync(random);
    std::ofstream(path, std::ios::binary) << on_disk_;
  }

 private:
  struct change {
    std::size_t at;
    std::string data;
    bool is_truncation;
  };
  void apply(const change& one) {
    if (one.is_truncation) return on_disk_.resize(one.at);
    if (on_disk_.size() < one.at + one.data.size()) on_disk_.resize(one.at + one.data.size());
    on_disk_.replace(one.at, one.data.size(), one.data);
  }

  bool is_there_ = false;
  std::string on_disk_;
  std::vector<change> since_;
};

/// For as long as it lives, SQLite works on it by default. A sync reaches no disk: `lose_power` takes what was not
/// synced. It gives SQLite no shared memory, which the file of a spool has to do without.
class failing_vfs {
 public:
  enum class call { read, write, sync, truncate, size, open, remove };
  static constexpr std::size_t call_count = 7;

  explicit failing_vfs(unsigned seed = 1);
  failing_vfs(const failing_vfs&) = delete;
  failing_vfs& operator=(const failing_vfs&) = delete;
  ~failing_vfs();

  /// The call with this number, counted from 0, fails with this result; with `lasts` those behind it too. A write
  /// that fails for want of room has done its first half, in whole sectors.
  void fail(call which, int at, int result, bool lasts = false);
  void heal() noexcept { at_ = never; }
  /// The disk has room for so many bytes of files, all together.
  void limit_room(std::uintmax_t bytes) noexcept { most_bytes_ = bytes; }
  /// It can reserve nothing and does not say what it has, as some of FUSE.
  void say_nothing() noexcept { says_nothing_ = true; }
  bool says_nothing() const noexcept { return says_nothing_; }
  std::uintmax_t bytes() const;
  /// What `fstatvfs` says.
  std::uintmax_t room() const;
  /// What `fallocate` does: blocks of a file that stays as long as it is.
  bool reserve(const std::string& path, std::uintmax_t end, bool keeps_size);
  /// A call has failed on command.
  bool has_failed() const noexcept { return has_failed_; }
  int calls(call which) const noexcept { return calls_[static_cast<std::size_t>(which)]; }

  /// The process ends when so many more calls have changed a file after the first failure: what follows is not done.
  void end_behind_failure(int changes) noexcept { end_behind_ = changes; }
  /// The process ends when so many more calls have changed a file from now on.
  void end_behind(int changes) noexcept { end_ = changes_ + changes; }
  int changes() const noexcept { return changes_; }
  bool has_ended() const noexcept { return changes_ > end_; }
  /// Each file is what is on the disk, without what was reserved. No file is open.
  void lose_power();
  /// The next process begins, with faults and counts of its own.
  void begin_again() noexcept;

 private:
  static constexpr int never = std::numeric_limits<int>::max();
  friend struct failing_file;

  static failing_vfs& of(sqlite3_vfs* which) { return *static_cast<failing_vfs*>(which->pAppData); }
  static int open(sqlite3_vfs* which, const char* name, sqlite3_file* file, int flags, int* flags_out);
  static int remove(sqlite3_vfs* which, const char* name, int sync_folder);
  /// What this call ends with, without being done, or `SQLITE_OK`.
  int enter(call which);
  /// So much the file of this name takes.
  std::uintmax_t blocks_of(const std::string& path) const;
  bool has_room(const std::string& path, std::uintmax_t end) const;

  sqlite3_vfs* real_;
  sqlite3_vfs mine_;
  std::map<std::string, unreliable_file> files_;
  std::map<std::string, std::uintmax_t> reserved_;
  std::mt19937 random_;
  std::array<int, call_count> calls_{};
  call which_ = call::sync;
  int at_ = never;
  std::uintmax_t most_bytes_ = 0;
  int result_ = SQLITE_OK;
  bool lasts_ = false;
  bool says_nothing_ = false;
  bool has_failed_ = false;
  int changes_ = 0;
  int end_behind_ = never;
  int end_ = never;
};

// The real file of a spooled producer, without the thread.

/// Works with the file on the strand, so that a test is deterministic. Each error has to name the file and a cure. When
/// the file system has ended, so has the process.
class file_disk : public detail::spool_disk {
 public:
  file_disk(boost::asio::any_io_executor strand, const failing_vfs& vfs, std::shared_ptr<step_plan> plan,
            detail::spool_file_settings settings)
      : strand_(std::move(strand)),
        vfs_(vfs),
        plan_(std::move(plan)),
        name_(settings.file),
        file_(std::move(settings)) {}

  void open(std::optional<std::uint64_t> keep, handler done) override { answer(std::move(done), file_.open(keep)); }
  void commit(detail::spool_change change, handler done) override { answer(std::move(done), file_.commit(change)); }
  void load(std::uint64_t from, std::size_t most_messages, std::size_t most_bytes, handler done) override {
    answer(std::move(done), file_.load(from, most_messages, most_bytes));
  }
  void close(handler done) override { answer(std::move(done), file_.finish()); }
  void stop() noexcept override { file_.close(); }

 private:
  void answer(handler done, detail::spool_answer what) {
    plan_->is_crashed = plan_->is_crashed || vfs_.has_ended();
    if (plan_->is_crashed) return;
    if (what.error) {
      const auto cure = what.trouble.rfind("; ");
      BOOST_TEST(what.trouble.starts_with(name_ + ": "), what.trouble);
      BOOST_TEST((cure != std::string::npos && cure + 2 < what.trouble.size()), what.trouble);
    }
    boost::asio::post(strand_, [done = std::move(done), what = std::move(what)]() mutable { done(std::move(what)); });
  }

  boost::asio::any_io_executor strand_;
  const failing_vfs& vfs_;
  std::shared_ptr<step_plan> plan_;
  std::string name_;
  detail::spool_file file_;
};

}  // namespace zkrecipes::test
