// The problems of shard groups.
#pragma once

#include "cluster/group_status.hpp"
#include "problems/limits.hpp"
#include "problems/problem.hpp"

namespace zkadmin {

/// The problems of one group.
problem_list problems_of(const group_status& group, const problem_limits& limits = {});

}  // namespace zkadmin
