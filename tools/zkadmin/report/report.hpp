// Prints a cluster's status.
#pragma once

#include <string>

#include "cluster/status.hpp"
#include "problems/limits.hpp"

namespace zkadmin {

/// Tables for people.
std::string to_table(const cluster_status& cluster, const problem_limits& limits = {});

/// One line of JSON, "schema":2; docs/zkadmin.md describes it.
std::string to_json(const cluster_status& cluster, const problem_limits& limits = {});

/// One line per server, election, waiter and note, and one about the survey. The first field tells the kinds apart.
/// Tabs, line ends and backslashes in a field are escaped as \t, \n, \r and \\, other control characters as \x1b.
std::string to_tsv(const cluster_status& cluster, const problem_limits& limits = {});

}  // namespace zkadmin
