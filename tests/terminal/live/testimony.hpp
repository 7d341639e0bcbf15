// What a `hold_witness` leaves in its file.
#pragma once

#include <atomic>
#include <cstdint>

/// Nanoseconds of the clock of leases; 0: not yet.
struct testimony {
  std::atomic<std::int64_t> begin;
  std::atomic<std::int64_t> alive;  ///< The last time that it noted that it lives.
};
