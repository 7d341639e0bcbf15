#pragma once

#include <cstdint>

#include <zkrecipes/detail/requirements.hpp>

namespace zkrecipes::detail {

/// A fingerprint of 128 bits that stands for the key of a processing.
struct gate_key {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  friend bool operator==(const gate_key&, const gate_key&) = default;
};

}  // namespace zkrecipes::detail
