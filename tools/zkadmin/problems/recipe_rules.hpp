// The problems of recipes of any kind.
#pragma once

#include "cluster/recipe_status.hpp"
#include "cluster/stream_status.hpp"
#include "problems/limits.hpp"
#include "problems/problem.hpp"

namespace zkadmin {

// The problems of sources of messages outside of ZooKeeper.

/// The problems of one source: those that ZooKeeper tells, and those that its broker tells, if it was asked.
problem_list problems_of(const stream_status& stream, const problem_limits& limits = {});

/// The problems of one recipe: those of its kind, if it has rules of its own, and else those of all kinds.
problem_list problems_of(const recipe_status& status, const problem_limits& limits = {});

}  // namespace zkadmin
