// Where the messages of a run with shards are: a topic, or Redis streams.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/message_feed.hpp>
#include <zkrecipes/queue_types.hpp>
#include <zkrecipes/session.hpp>

namespace demo {

/// The processes of a run have one each.
class shard_source {
 public:
  virtual ~shard_source() = default;

  virtual zkrecipes::message_feed feed(std::uint32_t shard) const = 0;
  /// Messages that are still to be consumed; nothing if it can not be told at the moment.
  virtual boost::asio::awaitable<std::optional<std::uint64_t>> lag() = 0;
  virtual boost::asio::awaitable<std::vector<zkrecipes::dead_letter>> dead_letters() = 0;
};

using shard_source_ptr = std::unique_ptr<shard_source>;

/// `broker`: the address of Redis; empty: a topic. \throws std::invalid_argument if this was built without Redis.
shard_source_ptr make_shard_source(const zkrecipes::session& over, std::uint32_t shards, const std::string& broker);

/// \throws std::invalid_argument if this was built without the component `redis`.
shard_source_ptr make_stream_source(const zkrecipes::session& over, std::uint32_t shards, const std::string& broker);

}  // namespace demo
