// Prints topics, sources of messages outside of ZooKeeper, and dead letters. docs/zkadmin.md describes the formats.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "cluster/letters.hpp"
#include "cluster/stream.hpp"
#include "cluster/topic.hpp"
#include "report/formats.hpp"
#include "settings/command_line.hpp"
#include "terminal/table.hpp"

namespace zkadmin {

// Prints dead letters.

/// A row for each letter, with the first bytes of its data. `now`: by this machine's clock.
std::string formatted_letters(const letter_list& letters, output_format format,
                              std::chrono::system_clock::time_point now);

// Prints sources of messages outside of ZooKeeper. docs/zkadmin.md describes the formats.

/// A survey that is missing: the sources are not known.
using known_streams = std::optional<stream_survey>;

/// For people: a row for each source and group.
std::string to_table(const known_streams& streams);

/// For people: one source with its groups and shards.
std::string to_table(const stream_status& stream);

/// One line of JSON, "schema":1.
std::string to_json(const known_streams& streams);

/// One line about the survey, and one per source, group, shard, depth and note.
std::string to_tsv(const known_streams& streams);

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
