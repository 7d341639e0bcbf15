// What all parts of a member of a shard group share.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>

#include <zkrecipes/consumer/shard_group.hpp>

#include "session/core.hpp"
#include "shards/group_layout.hpp"
#include "shards/member_health.hpp"

namespace zkrecipes::detail {

struct group_frame {
  explicit group_frame(core_ptr over)
      : session(std::move(over)), risk(session->get_scheduler()), health(session->get_scheduler(), options) {}

  core_ptr session;
  group_layout where;
  shard_group_options options;
  std::uint64_t seats = 0;  ///< How many seats this member has had.
  risk_turn risk;
  member_health health;
};

using group_frame_ptr = std::shared_ptr<group_frame>;

/// Names of member nodes that are known to be gone.
using gone_members_ptr = std::shared_ptr<std::set<std::string, std::less<>>>;

}  // namespace zkrecipes::detail
