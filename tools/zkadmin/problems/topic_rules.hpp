// The problems of topics.
#pragma once

#include "cluster/topic_status.hpp"
#include "problems/limits.hpp"
#include "problems/problem.hpp"

namespace zkadmin {

/// The problems of one topic, each with the groups of consumers that have it.
problem_list problems_of(const topic_status& topic, const problem_limits& limits = {});

}  // namespace zkadmin
