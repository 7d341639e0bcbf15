// A partitioned log kept in ZooKeeper.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/consumer/message_feed.hpp>
#include <zkrecipes/consumer/source_base.hpp>
#include <zkrecipes/producer_base.hpp>
#include <zkrecipes/queue_base.hpp>
#include <zkrecipes/session.hpp>

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

/// The batches that are kept of a shard.
struct topic_shard {
  std::uint32_t shard = 0;
  std::size_t batches = 0;
  std::uint64_t messages = 0;
  std::vector<std::string> groups{};  ///< Those that have a position, in the order of their names.
};

/// Settings of a `topic`.
struct topic_options {
  /// Written into the topic by the first that uses it, and the same for all from then on. 1 to 10 000.
  std::uint32_t shards = 256;
  topic_retention retention{};
};

/// Messages with a key, in shards. A message is put at the end of the shard of its key (`topic_producer`), and consumed
/// in order, shard by shard, by a `queue_consumer` that is made of a `feed`. Consumers of different groups each get all
/// messages; a group's position in a shard is kept in ZooKeeper, and moves in the same transaction as the effects.
/// Messages stay for as long as `topic_options::retention` says. docs/recipes/topic.md has an example, costs and
/// limits. Thread safety: safe.
class topic : public source_base {
 public:
  topic() = default;  ///< Stands for nothing, like one that was moved from: operations complete with `closed`.
  /// The number of shards is compared with that of the topic at `path` when it is used first: `size_mismatch`.
  /// \throws std::invalid_argument naming the bad path or option.
  topic(session over, std::string path, topic_options options);
  topic(session over, std::string path) : topic(std::move(over), std::move(path), topic_options()) {}

  /// The messages of one shard, for a `queue_consumer` of this group: one process at a time should consume a shard for
  /// a group, under an election or a shard group. The first use of a name makes the group: it begins with the first
  /// message that is there.
  /// \throws std::invalid_argument if there is no such shard, if the name of the group is not 1 to 256 bytes without
  /// slash and what ZooKeeper refuses in paths, or if the topic was made by default.
  message_feed feed(std::uint32_t shard, std::string group) const;

  using source_base::async_lag;
  using source_base::async_revive;
  using source_base::async_seek;

  /// Reads what is kept of each shard, as our server shows it.
  ///
  /// Signature: `void(error_code, std::vector<topic_shard>)`.
  /// Errors: `no_node` (there is no topic yet), `size_mismatch`, `foreign_data`, `no_auth`, and those of `session`.
  /// Cancellation: all types.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, and 1 for each hundred shards; 1 request, and 2 for each shard.
  template <token_for<std::vector<topic_shard>> Token = default_token>
  auto async_shards(Token&& token = Token()) {
    return detail::initiate<void(error_code, std::vector<topic_shard>)>(token, &start_shards, get_core());
  }

  const topic_options& options() const noexcept;

 private:
  static void start_shards(detail::handler_for<void(error_code, std::vector<topic_shard>)>, core_ptr);
};

}  // namespace zkrecipes
