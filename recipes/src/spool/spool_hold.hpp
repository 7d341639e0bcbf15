// Keeps the file of a spool for one object.
#pragma once

#include <cstdint>
#include <string>

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
  /// Bytes that the file system has left for this user.
  std::uint64_t room() const noexcept;

 private:
  int descriptor_ = -1;
};

}  // namespace zkrecipes::detail
