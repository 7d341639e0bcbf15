// The two tables of a cluster's status, the same on the screen and in print.
#pragma once

#include <span>

#include "cluster/status.hpp"
#include "problems/limits.hpp"
#include "screen/table.hpp"

namespace zkadmin {

table ensemble_table(std::span<const server_status> servers, const problem_limits& limits = {});

/// One row per election. Hand-overs and requested resignations are not in it: they have lines of their own.
table election_table(std::span<const election_status> elections, const problem_limits& limits = {});

/// "a -> b  finishing  1.2 s / 10 s".
std::string hand_over_line(const hand_over_status& hand_over);

/// The hand-over or the requested resignation of an election: "hand-over: a -> b  finishing  1.2 s / 10 s", or
/// "resignation: a was asked 9.0 s ago"; empty if there is neither.
std::string activity_line(const election_status& election);

/// "QUORUM 3/3 leader 127.0.0.1:2181".
table_cell quorum_banner(std::span<const server_status> servers);

}  // namespace zkadmin
