// Settings of a source of the user's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <zkrecipes/session_options.hpp>

namespace zkrecipes {

/// Settings of `external_source`.
struct external_options {
  /// Tells this source from others: the topic or the table that the messages come from. Written to the path by the
  /// first that uses it, and the same for all from then on. 1 to 256 bytes without control characters.
  std::string source{};
  /// Parts of the source that are consumed on their own, each in order. Written to the path as well. 1 to 10 000.
  std::uint32_t shards = 1;
  /// Most messages of a shard that were received and are not settled. They are kept in memory with their data, twice
  /// while they are in the window of the consumer, so all shards of one object have 64 MiB of them, shared equally by
  /// those that read, or one message each. Fewer if their ids are long: those have 128 KiB together, with 32 bytes more
  /// for each. While there is no room, nothing is received; nor, in a log, while the ids of what is settled behind a
  /// message that is not take 384 KiB. 1 to 2 000. Nothing: 500 in strict order, else 1 000, because those behind a
  /// resting key are in hand, too; and `remembered` at most.
  std::optional<std::size_t> in_hand{};
  /// Queues only: the ids of so many settled messages are remembered, those settled last. Each commit writes them all,
  /// so 1 000 ids of 36 bytes cost 39 kB a commit. Fewer if they are long: they have 384 KiB together. A message that
  /// is delivered again after its id was forgotten is processed again. `in_hand` to 10 000.
  std::size_t remembered = 1'000;
  /// Pauses before a source that has reported an error is opened again (`limit` does not count here). They double and
  /// vary by +-50 % at random, and begin anew when messages have come.
  retry_policy retry{};
};

}  // namespace zkrecipes
