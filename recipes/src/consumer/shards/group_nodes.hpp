// Makes the nodes of a shard group.
#pragma once

#include "session/operation.hpp"
#include "shards/group_frame.hpp"

namespace zkrecipes::detail {

/// Makes the group's node if it is missing, or sees that it is one. Errors: `size_mismatch` (it has another number of
/// shards), `foreign_data`, and those of the session.
awaitable<error_code> make_group(group_frame_ptr group);

/// The numbers of the shards that have no record among these nodes.
std::vector<std::uint32_t> missing_records(const group_frame& group, const std::vector<std::string>& present);

/// Makes these records: without data, so no term has begun. To do it twice changes nothing.
awaitable<error_code> make_records(group_frame_ptr group, std::vector<std::uint32_t> missing);

}  // namespace zkrecipes::detail
