// The batches that are kept of a shard of a topic.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <zkrecipes/producer_base.hpp>

namespace zkrecipes {

/// The batches that are kept of a shard.
struct topic_shard {
  std::uint32_t shard = 0;
  std::size_t batches = 0;
  std::uint64_t messages = 0;
  std::vector<std::string> groups{};  ///< Those that have a position, in the order of their names.
};

}  // namespace zkrecipes
