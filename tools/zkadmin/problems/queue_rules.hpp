// The problems of queues.
#pragma once

#include "cluster/queue_status.hpp"
#include "problems/limits.hpp"
#include "problems/problem.hpp"

namespace zkadmin {

/// The problems of one queue.
problem_list problems_of(const queue_status& queue, const problem_limits& limits = {});

}  // namespace zkadmin
