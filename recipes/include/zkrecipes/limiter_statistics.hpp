// What a limiter has done.
#pragma once

#include <cstddef>
#include <cstdint>

#include <zkrecipes/lease_clock.hpp>

namespace zkrecipes {

/// The counters begin with the object. They are read one after the other, while calls go on.
struct limiter_statistics {
  std::uint64_t acquired = 0;  ///< Calls that were let through.
  std::uint64_t waited = 0;    ///< Calls that were let through after a wait; they are among `acquired`.
  std::uint64_t declined = 0;  ///< `try_acquire` that returned false, and operations that ended with `timed_out`.
  std::uint64_t held_off = 0;  ///< Calls of `hold_off` that delayed something: those that a longer one covers do not.
  std::size_t waiting = 0;     ///< Operations that wait now.
  lease_clock::duration time_waited{0};  ///< Time of all waits that ended with a call let through.

  friend bool operator==(const limiter_statistics&, const limiter_statistics&) = default;
};

}  // namespace zkrecipes
