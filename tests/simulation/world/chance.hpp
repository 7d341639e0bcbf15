// Seeded random numbers. Each purpose has its own stream, so that taking a fault away does not change the other draws.
#pragma once

#include <chrono>
#include <cstdint>

namespace zkrecipes::simulation {

using span = std::chrono::nanoseconds;
/// A moment of true time, counted from the beginning of the run.
using instant = std::chrono::nanoseconds;

/// SplitMix64 (Steele, Lea, Flood 2014): small and fast, and it has no bad seeds.
class chance {
 public:
  explicit chance(std::uint64_t seed, std::uint64_t stream = 0) : state_(mix(seed) ^ mix(~stream)) {}

  std::uint64_t draw() { return mix(state_ += 0x9e3779b97f4a7c15u); }
  /// From 0 to `end` - 1.
  std::uint64_t below(std::uint64_t end) { return draw() % end; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  span between(span low, span high) {
    return low + span(static_cast<span::rep>(below(static_cast<std::uint64_t>((high - low).count()) + 1)));
  }

 private:
  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace zkrecipes::simulation
