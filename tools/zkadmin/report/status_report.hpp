// Prints a cluster's status.
#pragma once

#include <chrono>
#include <span>
#include <string>

#include "cluster/status.hpp"
#include "settings/command_line.hpp"
#include "settings/settings.hpp"
#include "terminal/table.hpp"

namespace zkadmin {

// Prints the last terms of an election.

/// One row a term, the present one last; `now` tells how long that one lasts. The same in print and on the screen.
table history_table(const election_status& election, std::chrono::system_clock::time_point now);

std::string formatted_history(const election_status& election, output_format format,
                              std::chrono::system_clock::time_point now);

/// Tables for people.
std::string to_table(const cluster_status& cluster, const problem_limits& limits = {});

/// One line of JSON, "schema":2; docs/zkadmin.md describes it.
std::string to_json(const cluster_status& cluster, const problem_limits& limits = {});

/// One line per server, election, waiter and note, and one about the survey. The first field tells the kinds apart.
/// Tabs, line ends and backslashes in a field are escaped as \t, \n, \r and \\, other control characters as \x1b.
std::string to_tsv(const cluster_status& cluster, const problem_limits& limits = {});

// The two tables of a cluster's status, the same on the screen and in print.

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
