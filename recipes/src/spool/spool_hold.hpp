// Keeps the file of a spool for one object.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <sys/stat.h>

namespace zkrecipes::detail {

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
