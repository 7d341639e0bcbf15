// The limit that the processes of the tests of shared limiters share.
#pragma once

#include <chrono>
#include <string>

#include <zkrecipes/consumer/shared_limiter.hpp>

namespace zkrecipes::test {

inline constexpr const char* limit_path = "/limit";
inline constexpr std::uint32_t limit_slices = 40;

/// 400 calls a second, 40 at once.
inline shared_limiter_options limit_options(std::string id) {
  shared_limiter_options all;
  all.id = std::move(id);
  all.rate = 400;
  all.slices = limit_slices;
  return all;
}

}  // namespace zkrecipes::test
