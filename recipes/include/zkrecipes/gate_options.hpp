// How a gate treats duplicates.
#pragma once

#include <chrono>

#include <zkrecipes/lease_clock.hpp>

namespace zkrecipes {

/// The one of two callers that goes on waiting, if one waits for a key and another one comes. The other is declined.
enum class keep {
  first,   ///< The one that waits already: for requests that carry no data, such as "refresh key X".
  newest,  ///< The one that comes: for requests that carry data, of which the newest counts.
};

/// Settings of a `gate`.
struct gate_options {
  /// A processing that takes longer than this, counted from its start, does not hold up the others of its key: its pass
  /// becomes invalid when another caller is there to begin. More than 0; the maximum: no limit.
  time_budget safety = std::chrono::seconds(30);
  zkrecipes::keep keep = zkrecipes::keep::first;
};

}  // namespace zkrecipes
