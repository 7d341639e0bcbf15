// Settings of a topic.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <zkrecipes/detail/requirements.hpp>

namespace zkrecipes {

/// How long the batches of a topic are kept. A batch that all of `groups` have consumed is removed; with `age` or
/// `bytes` not before it is older than that, or its shard holds more than that. So nothing is removed that a named
/// group has still to consume. Without `groups`, `age` and `bytes` remove batches whether they were consumed or not.
/// Without any of the three, what all groups that have begun have consumed is removed while its shard holds more than
/// 10 000 batches; a group that comes later does not get it. All consumers of a topic should state the same.
struct topic_retention {
  /// Names of groups: see `topic::feed`.
  std::vector<std::string> groups{};
  /// By the clocks of the servers and of the consumers' machines. 1 s or more.
  std::optional<std::chrono::milliseconds> age{};
  /// The data of a shard. 1 or more.
  std::optional<std::uint64_t> bytes{};
};

/// Settings of a `topic`.
struct topic_options {
  /// Written into the topic by the first that uses it, and the same for all from then on. 1 to 10 000.
  std::uint32_t shards = 256;
  topic_retention retention{};
};

}  // namespace zkrecipes
