#pragma once

#include <string>

#include "descriptor.hpp"

namespace guardian {

/// The right to make a socket at a path, as long as it lasts: a lock (`flock`) of a file beside it, "PATH.lock".
/// Without it two guardians that start at the same time could both take away the socket of an earlier one, and one of
/// them that of the other.
class socket_lock {
 public:
  /// \throws std::runtime_error if somebody else has it, or the file can not be made.
  explicit socket_lock(const std::string& path);
  socket_lock(const socket_lock&) = delete;
  socket_lock& operator=(const socket_lock&) = delete;
  /// Removes the file.
  ~socket_lock();

 private:
  std::string file_;
  descriptor held_;
};

}  // namespace guardian
