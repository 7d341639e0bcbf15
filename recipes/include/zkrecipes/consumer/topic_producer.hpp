// Putting into a topic exactly once.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

#include <zkrecipes/producer_base.hpp>

namespace zkrecipes {

class topic;

/// Settings of a `topic_producer`.
struct topic_producer_options {
  /// Most messages that travel together in one transaction, 1 to 10 000.
  std::size_t max_batch = 4'000;
  /// Most bytes that travel together, keys and nodes' names included, or one message. 1 KiB to 512 KiB.
  std::size_t max_bytes = 512 * 1024;
  /// For how long the first message of a transaction waits for others, counted from its put. A full transaction is sent
  /// at once. If the session is closed while messages wait, their puts end with `closed`, and nothing is put. 0 to 60
  /// s.
  std::chrono::milliseconds linger{0};
};

/// Puts into a topic exactly once, whatever happens to replies, connections and sessions: a node
/// `_producers/<name>` of the topic holds the number of the last message put, and changes in the same transaction.
/// Messages that are put while a transaction is in flight travel in the next one, over all shards that they belong to;
/// those of one shard are packed into one node. So many messages cost few requests. Full transactions, up to 32 and
/// some 4 MiB, are sent without waiting for those before. Use one producer object per name at a time. Thread safety:
/// safe.
class topic_producer : public producer_base {
 public:
  topic_producer() = default;
  /// `name`: 1 to 256 bytes, no slash, no character that ZooKeeper refuses in paths, and neither "." nor "..";
  /// the same name continues the numbering after a restart.
  /// \throws std::invalid_argument naming the bad name or option.
  topic_producer(const topic& into, std::string name, topic_producer_options options);
  topic_producer(const topic& into, std::string name)
      : topic_producer(into, std::move(name), topic_producer_options()) {}

  using producer_base::async_last;

  const topic_producer_options& options() const noexcept;
};

}  // namespace zkrecipes
