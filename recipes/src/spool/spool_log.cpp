#include "spool/spool_log.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <fstream>
#include <vector>

#include "spool/spool_file_trouble.hpp"

namespace zkrecipes::detail {

namespace {

// https://www.sqlite.org/fileformat2.html#the_write_ahead_log
constexpr std::uint32_t magic = 0x377f0682;  // the last bit: whether the sums are of big-endian words
constexpr std::size_t size_of_head = 32;
constexpr std::size_t size_of_frame_head = 24;
constexpr std::uint32_t page_of_mark = 0x7a6b7370;  // "zksp", instead of the number of a page
constexpr std::int64_t most_at_once = 1 << 16;      // SQLite's files take less than 128 KiB in one call

std::uint32_t word(const char* at, bool is_big = true) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    const auto byte = static_cast<unsigned char>(at[is_big ? i : 3 - i]);
    value = value << 8 | byte;
  }
  return value;
}

void put_word(char* at, std::uint32_t value) {
  for (int i = 3; i >= 0; --i, value >>= 8) at[i] = static_cast<char>(value & 0xff);
}

struct log_sum {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  bool operator==(const log_sum&) const = default;

  static log_sum stored(const char* at) { return {word(at), word(at + 4)}; }
  void add(const char* from, std::size_t size, bool is_big) {
    for (std::size_t i = 0; i < size; i += 8) {
      first += word(from + i, is_big) + second;
      second += word(from + i + 4, is_big) + first;
    }
  }
};

/// Reads a log frame by frame.
class log_reader {
 public:
  explicit log_reader(const std::string& path) : in_(path, std::ios::binary) {
    if (!in_ && errno != ENOENT) refuse_open(errno, "its log ");
    in_.exceptions(std::ios::badbit);
    is_there_ = in_ && read(head_.data(), head_.size());
    if (!is_there_) return;
    is_big_ = word(head_.data()) & 1;
    sum_.add(head_.data(), size_of_head - 8, is_big_);
    frame_.resize(size_of_frame_head + std::clamp<std::size_t>(word(head_.data() + 8), 512, 65'536));
  }

  bool is_empty() const {
    return std::ranges::all_of(head_, [](char each) { return each == 0; });
  }
  bool has_head() const { return is_there_ && !is_empty(); }
  bool has_good_head() const {
    return (word(head_.data()) & ~1u) == magic && sum_ == log_sum::stored(head_.data() + 24);
  }
  /// False: that was the last one.
  bool next() {
    before_ = stored_;
    if (!read(frame_.data(), frame_.size())) {
      std::fill(frame_.begin() + in_.gcount(), frame_.end(), '\0');
      in_.exceptions(std::ios::goodbit);
      is_cut_ = true;
      if (in_.gcount() < static_cast<std::streamsize>(size_of_frame_head)) return false;
    }
    stored_ = log_sum::stored(frame_.data() + 16);
    return true;
  }
  bool is_cut() const { return is_cut_; }
  bool has_salts() const { return std::equal(head_.data() + 16, head_.data() + 24, frame_.data() + 8); }
  bool is_mark() const { return has_salts() && word(frame_.data()) == page_of_mark; }
  bool is_commit() const { return has_salts() && !is_mark() && word(frame_.data() + 4) != 0; }
  /// It was written behind the frame in front of it, whatever became of that one.
  bool follows() const {
    if (!has_salts() || is_cut_ || word(frame_.data()) == 0 || is_mark()) return false;
    auto sum = before_ ? *before_ : sum_;
    sum.add(frame_.data(), 8, is_big_);
    sum.add(frame_.data() + size_of_frame_head, frame_.size() - size_of_frame_head, is_big_);
    return stored_ && sum == *stored_;
  }

 private:
  bool read(char* to, std::size_t size) { return bool(in_.read(to, static_cast<std::streamsize>(size))); }

  std::ifstream in_;
  std::array<char, size_of_head> head_{};
  std::vector<char> frame_;
  log_sum sum_;  // of the head
  std::optional<log_sum> before_;
  std::optional<log_sum> stored_;
  bool is_there_ = false;
  bool is_big_ = false;
  bool is_cut_ = false;
};

}  // namespace

bool spool_log::is_empty(const std::string& log) { return log_reader(log).is_empty(); }

/// A bad frame is the end of the log unless it was synced: a mark behind it says so, or the first frame of another
/// transaction that follows the last frame of its own.
std::string spool_log::damage(const std::string& log, bool is_synced) {
  log_reader all(log);
  if (!all.has_head()) return {};
  if (!all.has_good_head()) return "its log has a damaged head";
  std::uint64_t number = 0;
  std::uint64_t bad = 0;
  bool is_behind_commit = false;
  while (all.next()) {
    ++number;
    const bool follows = all.follows();
    const bool proves = all.is_mark() || (is_synced && is_behind_commit && follows);
    if (bad != 0 && bad != number && proves) {
      return "frame " + std::to_string(bad) + " of its log is damaged, and others follow that were written later";
    }
    if (bad == 0 && !follows) bad = number;
    is_behind_commit = bad != 0 && all.is_commit();
    if (all.is_cut()) break;
  }
  return {};
}

sqlite3_file* spool_log::file() const {
  sqlite3_file* log = nullptr;
  require_ok(sqlite3_file_control(of_, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log));
  return log && log->pMethods ? log : nullptr;
}

void spool_log::mark(int frames) const noexcept {
  sqlite3_file* log = nullptr;
  if (sqlite3_file_control(of_, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) != SQLITE_OK) return;
  if (!log || !log->pMethods) return;
  std::array<char, size_of_head> head{};
  if (log->pMethods->xRead(log, head.data(), static_cast<int>(head.size()), 0) != SQLITE_OK) return;
  std::array<char, size_of_frame_head> made{};
  put_word(made.data(), page_of_mark);
  std::copy_n(head.data() + 16, 8, made.data() + 8);
  const auto size = static_cast<sqlite3_int64>(size_of_frame_head + word(head.data() + 8));
  const auto at = static_cast<sqlite3_int64>(size_of_head) + frames * size;
  log->pMethods->xWrite(log, made.data(), static_cast<int>(made.size()), at);
}

std::int64_t spool_log::size() const {
  auto* log = file();
  sqlite3_int64 size = 0;
  if (log) require_ok(log->pMethods->xFileSize(log, &size));
  return size;
}

void spool_log::write_again() const {
  auto* log = file();
  if (!log) return;
  const auto end = size();
  std::vector<char> piece(static_cast<std::size_t>(most_at_once));
  for (std::int64_t at = 0; at < end; at += most_at_once) {
    const auto count = static_cast<int>(std::min(end - at, most_at_once));
    require_ok(log->pMethods->xRead(log, piece.data(), count, at));
    require_ok(log->pMethods->xWrite(log, piece.data(), count, at));
  }
}

/// The zeroes must not come to the disk in the midst of a longer log of which only this system knows that it was cut.
void spool_log::extend(std::int64_t size) const {
  auto* log = file();
  if (!log || this->size() >= size) return;
  if (this->size() < static_cast<std::int64_t>(size_of_head)) clear();
  sync();
  const std::vector<char> zeroes(static_cast<std::size_t>(most_at_once));
  for (auto at = this->size(); at < size; at += most_at_once) {
    const auto count = static_cast<int>(std::min(size - at, most_at_once));
    require_ok(log->pMethods->xWrite(log, zeroes.data(), count, at));
  }
}

void spool_log::shorten(std::int64_t size) const {
  auto* log = file();
  if (!log || this->size() <= size) return;
  clear();
  sync();
  require_ok(log->pMethods->xTruncate(log, size));
}

void spool_log::clear() const {
  constexpr std::array<char, size_of_head> zeroes{};
  auto* log = file();
  if (log) require_ok(log->pMethods->xWrite(log, zeroes.data(), static_cast<int>(zeroes.size()), 0));
}

void spool_log::sync() const {
  auto* log = file();
  if (log) require_ok(log->pMethods->xSync(log, SQLITE_SYNC_NORMAL));
}

}  // namespace zkrecipes::detail
