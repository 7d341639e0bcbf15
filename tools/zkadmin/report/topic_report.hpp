// Prints topics. docs/zkadmin.md describes the formats.
#pragma once

#include <optional>
#include <string>

#include "cluster/topic.hpp"
#include "report/formats.hpp"
#include "terminal/table.hpp"

namespace zkadmin {

/// A survey that is missing: the topics are not known.
using known_topics = std::optional<topic_survey>;

/// For people: a row for each topic and group.
std::string to_table(const known_topics& topics);

/// For people: one topic with its groups and shards.
std::string to_table(const topic_status& topic);

/// One line of JSON, "schema":1.
std::string to_json(const known_topics& topics);

/// One line about the survey, and one per topic, shard, group, lag of a shard, and note.
std::string to_tsv(const known_topics& topics);

// The tables of topics, the same on the screen and in print.

/// A row for each group of consumers.
table lag_table(const topic_status& topic);

/// A row for each shard of which something is kept or has to be consumed, with the lag of each group.
table shard_lag_table(const topic_status& topic, table_bounds bounds);

}  // namespace zkadmin
