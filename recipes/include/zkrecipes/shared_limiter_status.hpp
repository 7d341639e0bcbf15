// The share of a process in a limit.
#pragma once

#include <cstdint>

#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/shard_group_status.hpp>

namespace zkrecipes {

/// What a `shared_limiter` has at the moment. No server is asked.
struct shared_limiter_status {
  std::uint32_t slices = 0;  ///< Those whose rate this process may use now.
  std::uint32_t all = 0;     ///< `shared_limiter_options::slices`.
  double rate = 0;           ///< Our part of the rate: cost in each `per`.
  /// Cost that came back while there was no room for it, since the object was made: rate that was ours, and that nobody
  /// could use. Compare two looks to see how much it is at the moment.
  double unused = 0;
  /// Until when the slices count if nothing more is heard from the servers. The clock's zero without slices.
  lease_clock::time_point valid_until{};
  shard_group_status group{};  ///< What the member of the group does.
};

}  // namespace zkrecipes
