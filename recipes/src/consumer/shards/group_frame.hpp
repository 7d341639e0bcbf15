// What all parts of a member of a shard group share.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>

#include <zkrecipes/consumer/shard_group.hpp>

#include "session/core.hpp"
#include "session/operation.hpp"
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

/// Makes the group's node if it is missing, or sees that it is one. Errors: `size_mismatch` (it has another number of
/// shards), `foreign_data`, and those of the session.
awaitable<error_code> make_group(group_frame_ptr group);

/// The numbers of the shards that have no record among these nodes.
std::vector<std::uint32_t> missing_records(const group_frame& group, const std::vector<std::string>& present);

/// Makes these records: without data, so no term has begun. To do it twice changes nothing.
awaitable<error_code> make_records(group_frame_ptr group, std::vector<std::uint32_t> missing);

}  // namespace zkrecipes::detail
