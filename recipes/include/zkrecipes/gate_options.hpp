// How a gate treats duplicates.
#pragma once

#include <chrono>

#include <zkrecipes/keep.hpp>
#include <zkrecipes/lease_clock.hpp>

namespace zkrecipes {

/// Settings of a `gate`.
struct gate_options {
  /// A processing that takes longer than this, counted from its start, does not hold up the others of its key: its pass
  /// becomes invalid when another caller is there to begin. The clock is coarse: it can be up to 10 ms less. More than
  /// 0; the maximum: no limit.
  time_budget safety = std::chrono::seconds(30);
  zkrecipes::keep keep = zkrecipes::keep::first;
};

}  // namespace zkrecipes
