// What Redis streams tell of themselves.
#pragma once

#include <chrono>
#include <cstdint>

#include <zkrecipes/detail/requirements.hpp>

namespace zkrecipes {

/// What a group has still to consume of a stream.
struct redis_lag {
  std::uint32_t shard = 0;
  /// Entries behind the position, with those that were settled ahead of others. 10 000 at most are counted.
  std::uint64_t messages = 0;
  bool is_more = false;  ///< There are more of them.
  /// For how long the first of them has been there, by the clock of the broker and that of this machine.
  std::chrono::milliseconds oldest{0};
};

}  // namespace zkrecipes
