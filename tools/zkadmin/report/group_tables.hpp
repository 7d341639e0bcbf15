// The tables of shard groups, the same on the screen and in print.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cluster/group_status.hpp"
#include "report/table_bounds.hpp"
#include "screen/table.hpp"

namespace zkadmin {

table group_table(std::span<const group_status> groups);

/// "12 shards, 5 owned, 3 moving".
std::string shard_summary(const group_status& group);

/// The members, and the shards that are moving, in quarantine or waiting; without rows where there are none.
std::vector<table> group_sections(const group_status& group, table_bounds bounds);

}  // namespace zkadmin
