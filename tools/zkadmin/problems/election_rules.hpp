// The problems of elections.
#pragma once

#include "cluster/status.hpp"
#include "problems/limits.hpp"
#include "problems/problem.hpp"

namespace zkadmin {

/// The problems of one election.
problem_list problems_of(const election_status& election, const problem_limits& limits = {});

/// Whether the deadline of a hand-over has been over for longer than the limit.
bool is_late(const hand_over_status& hand_over, const problem_limits& limits = {}) noexcept;

}  // namespace zkadmin
