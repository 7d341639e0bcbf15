// Prints sources of messages outside of ZooKeeper. docs/zkadmin.md describes the formats.
#pragma once

#include <optional>
#include <string>

#include "cluster/stream.hpp"

namespace zkadmin {

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

}  // namespace zkadmin
