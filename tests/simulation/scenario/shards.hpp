// Four members of a shard group share eight shards. They stop, come back, drain and die; some of their careers throw,
// and one may kill its process. An operator edits the group's nodes.
#pragma once

#include <deque>

#include <zkrecipes/consumer/leader_career.hpp>
#include <zkrecipes/consumer/shard_group.hpp>

#include "scenario/order_rules.hpp"
#include "scenario/shard_rules.hpp"
#include "scenario/term_rules.hpp"

namespace zkrecipes::simulation {

/// What the members share.
struct sharing {
  explicit sharing(stage& in);

  /// Also of the planning, which are the same for all.
  shard_group_options options_of(int client) const;

  stage& in;
  career_traits traits;
  shard_group_options common;
  std::optional<std::uint32_t> killer;  ///< The shard whose careers kill their process.
  bool has_namesakes = false;           ///< Two clients have the same id.
  bool edits_records = false;           ///< The operator may edit the records of shards, or remove them.
  bool is_healed = false;
  std::vector<bool> has_lapsed;  ///< By client: its lease has ended once since it joined.
  order_rules orders;
  shard_rules records;
  std::deque<call_rules> calls;  ///< By shard.
};

std::unique_ptr<program> make_sharer(sharing& of, stage& in, int client, session with);

}  // namespace zkrecipes::simulation
