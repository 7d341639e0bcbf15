// Prints shard groups. docs/zkadmin.md describes the formats.
#pragma once

#include <optional>
#include <string>

#include "cluster/group_status.hpp"
#include "problems/limits.hpp"

namespace zkadmin {

/// A survey that is missing: the groups are not known.
using known_groups = std::optional<group_survey>;

/// For people: a row for each group.
std::string to_table(const known_groups& groups);

/// For people: one group with its members, and its shards that are moving, in quarantine or waiting.
std::string to_table(const group_status& group, const problem_limits& limits = {});

/// One line of JSON, "schema":1.
std::string to_json(const known_groups& groups, const problem_limits& limits = {});

/// One line about the survey, and one per group, member, move, shard in quarantine, absent member and note.
std::string to_tsv(const known_groups& groups, const problem_limits& limits = {});

}  // namespace zkadmin
