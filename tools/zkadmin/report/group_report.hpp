// Prints shard groups. docs/zkadmin.md describes the formats.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cluster/group.hpp"
#include "report/formats.hpp"
#include "settings/settings.hpp"
#include "terminal/table.hpp"

namespace zkadmin {

/// A survey that is missing: the groups are not known.
using known_groups = std::optional<group_survey>;

/// For people: a row for each group, and a line for each of its problems.
std::string to_table(const known_groups& groups, const problem_limits& limits = {});

/// For people: one group with its members, and its shards that are moving, in quarantine or waiting.
std::string to_table(const group_status& group, const problem_limits& limits = {});

/// One line of JSON, "schema":1.
std::string to_json(const known_groups& groups, const problem_limits& limits = {});

/// One line about the survey, and one per group, member, move, shard in quarantine, absent member and note.
std::string to_tsv(const known_groups& groups, const problem_limits& limits = {});

// The tables of shard groups, the same on the screen and in print.

table group_table(std::span<const group_status> groups);

/// "12 shards, 5 owned, 3 moving".
std::string shard_summary(const group_status& group);

/// The members, and the shards that are moving, in quarantine or waiting; without rows where there are none.
std::vector<table> group_sections(const group_status& group, table_bounds bounds);

}  // namespace zkadmin
