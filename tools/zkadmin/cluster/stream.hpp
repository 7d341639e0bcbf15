// The state of a source of messages that are kept outside of ZooKeeper: plain data, the same for every way to show it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/status.hpp"

namespace zkadmin {

/// The messages of one epoch of a producer that are settled.
struct settled_run_status {
  std::string producer;
  std::string epoch{};
  std::string ranges{};  ///< Their numbers: "1-40,42".
  friend bool operator==(const settled_run_status&, const settled_run_status&) = default;
};

/// What a group has settled of a shard, as its node in ZooKeeper says.
struct stream_shard_status {
  std::uint32_t shard = 0;
  bool is_damaged = false;                    ///< It holds no position and no memory: nothing else is known.
  std::string last{};                         ///< A log: it and all in front of it are settled.
  std::vector<std::string> ahead{};           ///< A log: settled behind it, "ID" or "FIRST LAST".
  std::vector<settled_run_status> runs{};     ///< A queue: settled messages with numbers.
  std::uint64_t names = 0;                    ///< A queue: settled messages that are remembered one by one.
  std::uint64_t failed = 0;                   ///< Messages that are to be tried again.
  std::vector<settled_run_status> missing{};  ///< A queue: messages that have not come, although later ones have.
  bool may_drop = false;  ///< A queue: its broker drops what has come back often, as far as the record tells.
  std::string record{};   ///< What a source of a later version has stored, as it is.
  friend bool operator==(const stream_shard_status&, const stream_shard_status&) = default;
};

/// A group of consumers. Queues of RabbitMQ have one.
struct stream_group_status {
  std::string name;
  std::vector<stream_shard_status> shards{};  ///< The shards that it has begun, by number.
  std::uint64_t dead_letters = 0;
  friend bool operator==(const stream_group_status&, const stream_group_status&) = default;
};

/// What the broker says of a shard.
struct shard_depth_status {
  std::uint32_t shard = 0;
  std::string group{};         ///< Redis: the group that has so many to consume. Empty: RabbitMQ, or there is no group.
  std::uint64_t messages = 0;  ///< RabbitMQ: without those that consumers have in hand.
  bool is_more = false;        ///< There are more than these.
  std::optional<std::chrono::milliseconds> oldest{};  ///< Redis: the age of the first of them.
  std::optional<std::uint32_t> consumers{};           ///< RabbitMQ.
  bool is_missing = false;                            ///< RabbitMQ: there is no such queue.
  friend bool operator==(const shard_depth_status&, const shard_depth_status&) = default;
};

struct broker_status {
  std::string trouble{};  ///< Why the broker has not told all. Empty: it has.
  bool is_away = false;   ///< It can not be reached, or does not answer.
  std::vector<shard_depth_status> depths{};
  friend bool operator==(const broker_status&, const broker_status&) = default;
};

struct stream_status {
  std::string path;
  std::string source{};  ///< As its record calls it: "redis_streams", "rabbit_queues", ...
  std::string name{};    ///< That of the streams or queues, without the number of the shard.
  std::uint32_t shards = 0;
  std::uint64_t producers = 0;
  std::vector<stream_group_status> groups{};  ///< By name.
  std::optional<broker_status> broker{};      ///< Nothing: it was not asked.
  friend bool operator==(const stream_status&, const stream_status&) = default;
};

/// "1700000000000-3, ranges ahead: 2"; for people.
std::string settled_text(const stream_shard_status& shard);
std::uint64_t failed_of(const stream_group_status& group) noexcept;
std::uint64_t damaged_of(const stream_group_status& group) noexcept;
/// What waits in all shards for this group; RabbitMQ: for all consumers.
shard_depth_status depth_of(const broker_status& broker, const std::string& group);
/// "10000+", if there may be more.
std::string waiting_text(const shard_depth_status& depth);

using stream_survey = survey<stream_status>;

// Reads a source of messages that are kept outside of ZooKeeper, as far as ZooKeeper tells.

// What a consumer has stored about a shard of a source outside of ZooKeeper.

/// Reads the data of the node of a shard and a group. Marks it as damaged if it is no record of zkrecipes, or if a
/// field of one that is known has not the form that the library gives it.
stream_shard_status read_memory(std::string_view data);

/// The present state of the source at `path`, without its broker. Errors: `no_node`, `no_auth`, `foreign_data` (the
/// record at the path is of no source), and those of `session`.
boost::asio::awaitable<reading<stream_status>> read_stream(zkrecipes::session session, std::string path);

}  // namespace zkadmin
