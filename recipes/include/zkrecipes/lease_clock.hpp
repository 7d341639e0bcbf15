// The clock that leases are measured on: it goes on while the machine sleeps and never jumps.
#pragma once

#include <chrono>

#include <zkrecipes/time_span.hpp>

namespace zkrecipes {

/// The clock of leases and deadlines, a clock in the sense of the standard library.
struct lease_clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<lease_clock>;
  static constexpr bool is_steady = true;

  static time_point now() noexcept;
};

/// How long an operation may take. Zero or less: the time is up at once. The maximum: no limit.
using time_budget = time_span<lease_clock::duration>;

}  // namespace zkrecipes
