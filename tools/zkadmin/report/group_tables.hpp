// The table of shard groups, the same on the screen and in print.
#pragma once

#include <span>

#include "cluster/group_status.hpp"
#include "screen/table.hpp"

namespace zkadmin {

table group_table(std::span<const group_status> groups);

}  // namespace zkadmin
