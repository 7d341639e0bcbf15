#pragma once

#include <chrono>
#include <cstddef>

namespace guardian {

/// How much of the guardian one user may take. What goes beyond is refused; other users do not notice.
struct limits {
  std::size_t connections = 256;
  std::size_t sessions = 1'000;
  std::size_t terms = 50'000;
  std::size_t bytes = 64u << 20;  ///< The size of everything that is held for the user's processes.
  std::size_t endings = 16;       ///< Sessions that are ended at the same time.
  std::size_t closing = 256;      ///< Descriptors of theirs that are still being closed.
  /// Messages of one connection: so many at once, and so many in each second later. Further ones wait in its socket.
  std::size_t burst = 60'000;
  std::size_t rate = 2'000;
  /// All users together may have so many times the connections, sessions, terms and bytes of one: somebody may have a
  /// crowd of user ids.
  std::size_t users = 16;
  std::chrono::milliseconds hello{10'000};  ///< A connection that has said nothing yet is closed after so long.
};

}  // namespace guardian
