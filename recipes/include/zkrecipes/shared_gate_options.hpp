// Where the callers of a gate stand, and how long a processing may take.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <zkrecipes/lease_clock.hpp>

namespace zkrecipes {

/// Settings of a `shared_gate`.
struct shared_gate_options {
  /// Our name, as operators see it in our nodes: 1 to 256 bytes, no control characters.
  std::string id = "zkrecipes";
  /// Over how many nodes the keys are spread: 1 to 1024. Each call lists the callers of one bucket, so that many
  /// callers at once want many buckets. The same for all at the path, which holds the number: else `size_mismatch`.
  std::int32_t buckets = 64;
  /// How long a processing may take, counted from its own start: then its pass is lost, and nothing is committed with
  /// it. More than 0; the maximum: no limit. It has to be longer than a processing ever needs.
  time_budget safety = std::chrono::minutes(5);
};

}  // namespace zkrecipes
