// What RabbitMQ queues tell of themselves.
#pragma once

#include <cstdint>

#include <zkrecipes/detail/requirements.hpp>

namespace zkrecipes {

/// What waits in the queue of a shard.
struct rabbit_depth {
  std::uint32_t shard = 0;
  std::uint64_t messages = 0;   ///< Ready to be delivered. What consumers have and have not settled does not count.
  std::uint32_t consumers = 0;  ///< Connected to the queue. One of them gets messages.
  bool is_missing = false;      ///< There is no such queue: no producer or consumer has used it, or it was deleted.
};

}  // namespace zkrecipes
