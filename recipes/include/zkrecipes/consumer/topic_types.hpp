// The messages of a topic, the lag of a group, and what is kept of a shard.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <zkrecipes/detail/requirements.hpp>

namespace zkrecipes {

/// A message of a topic.
struct topic_message {
  std::string key{};  ///< Messages of one key stay in order.
  std::string data{};
};

/// The batches that are kept of a shard.
struct topic_shard {
  std::uint32_t shard = 0;
  std::size_t batches = 0;
  std::uint64_t messages = 0;
  std::vector<std::string> groups{};  ///< Those that have a position, in the order of their names.
};

}  // namespace zkrecipes
