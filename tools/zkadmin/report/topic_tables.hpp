// The tables of topics, the same on the screen and in print.
#pragma once

#include "cluster/topic_status.hpp"
#include "report/table_bounds.hpp"
#include "screen/table.hpp"

namespace zkadmin {

/// A row for each group of consumers.
table lag_table(const topic_status& topic);

/// A row for each shard of which something is kept or has to be consumed, with the lag of each group.
table shard_lag_table(const topic_status& topic, table_bounds bounds);

}  // namespace zkadmin
