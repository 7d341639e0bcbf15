// Settings of calls that are made once in a period.
#pragma once

#include <chrono>
#include <string>

#include <zkrecipes/time_span.hpp>

namespace zkrecipes {

/// Settings of a `once_per`.
struct once_per_options {
  /// Our name, which others are told that come later in the same period. 1 to 256 bytes, no control characters.
  std::string id{};
  /// The length of a period, the same for all at the path: else `size_mismatch`. Periods follow each other without a
  /// gap from 1970-01-01 00:00 UTC on, by the clock of the ensemble's leader. 1 s to 366 days; parts of a millisecond
  /// are cut off.
  time_span<std::chrono::milliseconds> per{std::chrono::hours(24)};
  /// For how long the intents of a period are kept when it is over. It has to be longer than clocks of servers can
  /// differ: if another server with a slower clock becomes the leader, an earlier period can come again. 0 to 366 days.
  time_span<std::chrono::milliseconds> keep{std::chrono::hours(1)};
};

}  // namespace zkrecipes
