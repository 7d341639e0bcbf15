// What a keyed limiter has done.
#pragma once

#include <cstddef>
#include <cstdint>

#include <zkrecipes/lease_clock.hpp>

namespace zkrecipes {

/// Sums over all keys. The counters begin with the object.
struct keyed_limiter_statistics {
  std::uint64_t acquired = 0;   ///< Calls that were let through.
  std::uint64_t waited = 0;     ///< Calls that were let through after a wait; they are among `acquired`.
  std::uint64_t declined = 0;   ///< `try_acquire` that returned false, and operations that ended with `declined`.
  std::uint64_t coalesced = 0;  ///< Operations that ended with `declined`; they are among `declined`.
  std::uint64_t held_off = 0;   ///< Calls of `hold_off` that delayed something: those that a longer one covers do not.
  std::uint64_t evicted = 0;    ///< Keys that were forgotten too early, because the table was full.
  std::size_t waiting = 0;      ///< Operations that wait now.
  std::size_t keys = 0;         ///< Keys that are remembered now, some of which can have their credit back.
  lease_clock::duration time_waited{0};  ///< Time of all waits that ended with a call let through.

  friend bool operator==(const keyed_limiter_statistics&, const keyed_limiter_statistics&) = default;
};

}  // namespace zkrecipes
