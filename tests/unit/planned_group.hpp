// A group in which the moves of a plan are done at once.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "shards/plan.hpp"

namespace zkrecipes::detail {

using shard_counts = std::vector<std::size_t>;

struct planned_group {
  explicit planned_group(std::size_t shards) {
    request.owners.assign(shards, nobody);
    request.moving.assign(shards, false);
    request.quarantined.assign(shards, false);
    request.max_moves = shards;
  }

  std::size_t join(std::uint32_t capacity = 1000) {
    const auto index = request.members.size();
    request.members.push_back({"orders-" + std::to_string(1000 + index), capacity, false});
    return index;
  }
  void join_many(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) join();
  }
  plan_member& member(std::size_t index) { return request.members[index]; }
  /// The member's incarnation has ended: its shards are nobody's. It stays in the list, drained, as indexes hold.
  void end(std::size_t index) {
    std::ranges::replace(request.owners, index, nobody);
    member(index).capacity = 0;
  }

  /// Plans once, and returns the moves.
  std::vector<shard_move> move() {
    auto moves = plan(request);
    for (const auto& each : moves) request.owners[each.shard] = each.to;
    return moves;
  }
  /// How many shards each member has.
  shard_counts held() const {
    shard_counts counts(request.members.size());
    for (auto owner : request.owners) {
      if (owner != nobody) ++counts[owner];
    }
    return counts;
  }

  plan_request request;
};

}  // namespace zkrecipes::detail
