// Counts the moves of shards, and those that the changes of the group explain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "phases.hpp"

namespace demo {

/// How the terms of all shards have ended.
struct move_counts {
  std::uint64_t moves = 0;       ///< Terms beyond the first of each shard, as the records count them.
  std::uint64_t bound = 0;       ///< How many there may be: see `count_moves`.
  std::uint64_t died = 0;        ///< Terms of processes that were killed.
  std::uint64_t left = 0;        ///< Terms of processes that were asked to stop or to drain.
  std::uint64_t lost = 0;        ///< Terms of processes that were paused, or that lost their connection.
  std::uint64_t unseen = 0;      ///< Terms that were over before their career was told.
  std::uint64_t rebalanced = 0;  ///< Terms that the planner has ended.
  std::uint64_t unexplained = 0;
};

/// `marks`: in order of time, up to the moment at which the records have these `epochs`, by shard. `joins`: how many
/// members there were after each join. The bound is the shards of each process at the moment when it was killed,
/// stopped, drained, paused or cut off, and for each join the share of the new member, which is the number of shards
/// divided by that of members, rounded up.
move_counts count_moves(const std::vector<phase_mark>& marks, const std::vector<std::int64_t>& epochs,
                        const std::vector<std::size_t>& joins);

}  // namespace demo
