// Where the messages of a run with shards are: a topic, Redis streams, or queues of RabbitMQ.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <zkrecipes/consumer/message_feed.hpp>

#include "backlog.hpp"
#include "source_kind.hpp"

namespace demo {

class shard_source : public backlog {
 public:
  virtual zkrecipes::message_feed feed(std::uint32_t shard) const = 0;
};

using shard_source_ptr = std::unique_ptr<shard_source>;

/// That of a topic, or of the broker at this address. \throws std::invalid_argument if this was built without its
/// component.
shard_source_ptr make_shard_source(source_kind which, const zkrecipes::session& over, std::uint32_t shards,
                                   const std::string& broker);

/// \throws std::invalid_argument if this was built without the component `redis`.
shard_source_ptr make_stream_source(const zkrecipes::session& over, std::uint32_t shards, const std::string& broker);

/// \throws std::invalid_argument if this was built without the component `rabbitmq`.
shard_source_ptr make_queue_shards(const zkrecipes::session& over, std::uint32_t shards, const std::string& broker);

}  // namespace demo
