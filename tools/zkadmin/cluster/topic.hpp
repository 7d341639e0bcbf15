// The state of a topic at one moment: plain data, the same for every way to show it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/status.hpp"

namespace zkadmin {

/// The messages of a shard: those that are kept, or those that a group has still to consume.
struct topic_shard_status {
  std::uint32_t shard = 0;
  std::uint64_t batches = 0;
  std::uint64_t messages = 0;
  std::chrono::milliseconds oldest{0};  ///< Age of the first of them; 0 for what is kept.
  friend bool operator==(const topic_shard_status&, const topic_shard_status&) = default;
};

/// A group of consumers.
struct topic_group_status {
  std::string name;
  std::vector<topic_shard_status> behind{};  ///< Shards of which it has something to consume, by number.
  std::uint64_t dead_letters = 0;
  friend bool operator==(const topic_group_status&, const topic_group_status&) = default;
};

struct topic_status {
  std::string path;
  std::uint32_t shards = 0;
  std::vector<topic_shard_status> kept{};    ///< Shards of which something is kept, by number.
  std::vector<topic_group_status> groups{};  ///< By name.
  friend bool operator==(const topic_status&, const topic_status&) = default;
};

/// The sums over shards, with the age of the oldest.
topic_shard_status total_of(const std::vector<topic_shard_status>& shards) noexcept;

using topic_survey = survey<topic_status>;

// Reads a topic, which takes a ZooKeeper session.

/// The present state of the topic at `path`. Errors: those of `topic::async_shards` and `topic::async_lag`.
boost::asio::awaitable<reading<topic_status>> read_topic(zkrecipes::session session, std::string path);

}  // namespace zkadmin
