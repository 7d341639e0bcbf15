// Bounds that keep arrival times within 62 bits.
#pragma once

#include <chrono>

#include <zkrecipes/lease_clock.hpp>

namespace zkrecipes::detail {

/// The longest `per`, and the longest time after which a whole burst has come back.
inline constexpr lease_clock::duration longest_span = std::chrono::hours(24 * 366);
inline constexpr lease_clock::duration longest_hold_off = longest_span;
/// A second more, because intervals are rounded up.
inline constexpr lease_clock::duration longest_level = longest_span + longest_hold_off + std::chrono::seconds(1);

}  // namespace zkrecipes::detail
