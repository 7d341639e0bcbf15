// The problems of two-phase commits.
#pragma once

#include "cluster/commit_status.hpp"
#include "problems/limits.hpp"
#include "problems/problem.hpp"

namespace zkadmin {

/// The problems of the transactions at one path.
problem_list problems_of(const commit_status& commit, const problem_limits& limits = {});

}  // namespace zkadmin
