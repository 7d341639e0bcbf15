// The problems of sources of messages outside of ZooKeeper.
#pragma once

#include "cluster/stream_status.hpp"
#include "problems/limits.hpp"
#include "problems/problem.hpp"

namespace zkadmin {

/// The problems of one source: those that ZooKeeper tells, and those that its broker tells, if it was asked.
problem_list problems_of(const stream_status& stream, const problem_limits& limits = {});

}  // namespace zkadmin
