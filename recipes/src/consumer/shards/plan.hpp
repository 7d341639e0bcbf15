// Which member of a group is to own which shard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace zkrecipes::detail {

struct plan_member {
  std::string name;               ///< The node of the member; of one that is away "away" or "back" and its id.
  std::uint32_t capacity = 1000;  ///< In thousandths. 0: it is draining, and gives everything away.
  bool is_away = false;           ///< It may come back: it keeps what it has, is given nothing, and its share counts.
};

inline constexpr auto nobody = static_cast<std::size_t>(-1);

struct plan_request {
  std::vector<plan_member> members;  ///< In order of their names.
  std::vector<std::size_t> owners;   ///< By shard: the index of the member that it is assigned to, or `nobody`.
  std::vector<bool> moving;          ///< By shard: that member has not begun its term yet.
  std::vector<bool> quarantined;     ///< By shard: it is not assigned to any member.
  /// By shard: the index of the member that is to have it, whatever the shares, or `nobody`. Empty: no shard is pinned.
  std::vector<std::size_t> pinned{};
  std::size_t max_moves = 1;  ///< How many shards may be moving when the plan has taken some from members.
  bool frozen = false;        ///< Nothing is taken from a member.
};

struct shard_move {
  std::size_t shard = 0;
  std::size_t from = nobody;
  std::size_t to = nobody;

  friend bool operator==(const shard_move&, const shard_move&) = default;
};

/// The next moves. The quota of a member is the part of the assignable shards that its capacity is of the sum of all
/// capacities. A member that holds less than its target, which is its quota rounded down or up, is given shards: first
/// those of nobody, then those of members that drain, then those of members that hold more than their target. So no
/// shard is taken from a member without need. Quotas are rounded up for members that hold more than the rounded down
/// quota, then for those with the largest fraction, then in order of the names.
///
/// Shards of nobody and of members that drain are also given to members beyond their target, if no member that is
/// there lacks any: this happens while a member is away that holds less than its target.
///
/// A shard that is pinned goes to its member, before all other moves, and is not taken from it. If a member has more of
/// them than its quota, they are its target, and the others share the rest. A pin does not count while its member
/// drains or is away, or while the shard is in quarantine or waits for a member that is away.
///
/// A shard that is moving is not taken. The same request has the same moves. If they are applied, and what is moving
/// arrives, the next plan moves none of the same shards, and a plan without a bound is followed by an empty one.
std::vector<shard_move> plan(const plan_request& what);

}  // namespace zkrecipes::detail
