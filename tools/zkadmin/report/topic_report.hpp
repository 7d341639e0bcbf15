// Prints topics. docs/zkadmin.md describes the formats.
#pragma once

#include <optional>
#include <string>

#include "cluster/topic_status.hpp"

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

}  // namespace zkadmin
