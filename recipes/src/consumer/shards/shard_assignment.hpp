// Which member is to own which shard: as the members' nodes say, and as the next plan wants it. Pure: no I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/transaction.hpp>

#include "shards/group_layout.hpp"
#include "shards/plan.hpp"

namespace zkrecipes::detail {

/// A member's node as the planner has read it.
struct listed_member {
  std::string node;
  std::int32_t version = 0;
  std::int32_t sequence = 0;  ///< In the order of joining.
  member_record record;
  std::int64_t joined_ms = 0;    ///< By the servers' clock.
  bool is_on_probation = false;  ///< It has come back too often to be given shards at once.
};

/// Which member's node is to own which shard.
struct shard_owners {
  std::vector<std::string> nodes{};
  std::vector<std::size_t> of{};  ///< By shard: the index of a node; behind the last one if there is no owner.
};

class shard_assignment {
 public:
  /// A shard that is not in its new owner's hands yet.
  struct move_under_way {
    std::uint32_t shard;
    std::string to;  ///< The member's node.
  };

  /// `members`: in order of their names. Shards that two members are to own, or that can not be owned, are sorted out,
  /// and a member that came back gets what its former incarnation had. `notes`: those that drain members count only if
  /// there is another member that could take the shards, so that work does not stand still.
  shard_assignment(std::uint32_t shards, std::vector<listed_member> members, std::vector<away_record> away,
                   const shard_set& quarantined, operator_notes notes = {});

  std::vector<move_under_way> moves_under_way() const;
  /// The owner to be does not begin, and nobody else owns it: it does not count as moving.
  void mark_stuck(std::uint32_t shard) { is_stuck_[shard] = true; }
  /// Takes these shards from their owners. Says whether there was one.
  bool take_back(const std::set<std::uint32_t>& shards);
  /// The owner to be has begun its term.
  void mark_begun(std::uint32_t shard);

  /// Members that have had no orders yet.
  std::vector<std::string> newcomers() const;
  /// Whether there is a shard that nobody is to own, and a member that has had orders and could take it.
  bool has_orphans() const;

  plan_request to_plan(double max_moves, bool is_frozen) const;
  /// All newcomers get orders, be they empty. `gone`: who owned a shard before, where the member is known to be gone.
  void apply(const std::vector<shard_move>& moves, const std::map<std::uint32_t, std::string>& gone);
  /// Writes down what has begun, so that the next planner need not look for it.
  void confirm();
  /// Nobody is there to take over from those that drain: they need not wait any longer.
  void release_if_all_drain();

  /// The ids of members that have come back: their `away` can be removed.
  const std::vector<std::string>& returned() const noexcept { return returned_; }
  shard_owners owners() const;
  bool has_changed() const;
  const std::vector<listed_member>& members() const noexcept { return members_; }

  /// The changed orders, those first that take shards away.
  struct order {
    std::string node;
    std::int32_t version;  ///< That of the node as it was read.
    std::string data;
  };
  std::vector<order> changed_orders() const;
  /// The hint for routers. The data of the members is left out where the map would be too large for a node.
  std::string to_map() const;

 private:
  static constexpr std::size_t unowned = nobody;

  void resolve(std::size_t owner, shard_set& shards);
  void inherit_from_living();
  void inherit_from_away();
  void take(std::size_t owner, std::uint32_t shard);
  void expect(std::size_t owner, std::uint32_t shard);
  std::size_t heir_of(const std::string& id) const;
  std::size_t heir_of(const away_record& note) const;
  void mark_avoided();
  bool takes(std::size_t which) const { return !drains_[which] && !is_avoided_[which]; }
  std::uint32_t capacity_of(std::size_t which) const;

  std::uint32_t count_;
  std::vector<listed_member> members_;
  std::vector<away_record> away_;
  operator_notes notes_;
  std::vector<std::size_t> owners_;  // by shard: index of a member, or behind those of an absent one
  std::vector<bool> quarantined_;
  std::vector<bool> is_stuck_;
  std::vector<bool> changed_;        // by member
  std::vector<bool> loses_;          // by member
  std::vector<bool> drains_;         // by member: by its own wish, or by that of an operator
  std::vector<bool> is_superseded_;  // by member: has joined again under the same id
  std::vector<bool> is_avoided_;     // by member: it fails, or comes back again and again
  std::vector<bool> confirmed_;      // by member: has begun what it was expected to
  std::map<std::string, std::size_t> heirs_;
  std::vector<std::string> returned_;
};

}  // namespace zkrecipes::detail
