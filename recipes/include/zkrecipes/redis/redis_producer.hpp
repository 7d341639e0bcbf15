// Putting into Redis streams exactly once.
#pragma once

#include <string>

#include <zkrecipes/producer_base.hpp>
#include <zkrecipes/redis/redis_streams.hpp>

namespace zkrecipes {

/// Puts messages into Redis streams exactly once, each into the stream of the shard of its key: the key
/// `<stream>:producer:<name>` in the broker holds the number of the last message put, and one script puts messages and
/// changes it. So a put whose reply was lost is repeated without harm. Messages that are put while a script is under
/// way travel in the next one, up to 1 000 or 1 MiB of them. The object that has begun last has the name; it begins
/// with its first operation. Use one object for a name at a time. It keeps its connection to the broker until it is
/// destroyed or its session is closed. How much of what was acknowledged a crash of the broker leaves is decided by its
/// persistence: docs/recipes/redis.md. Needs the component `redis`. Thread safety: safe.
class redis_producer : public producer_base {
 public:
  redis_producer() = default;
  /// `name`: 1 to 256 bytes, no slash, no control characters; the same name continues the numbering after a restart.
  /// \throws std::invalid_argument naming the bad name, or if `into` was made by default.
  redis_producer(const redis_streams& into, std::string name);

  using producer_base::async_last;

  const redis_options& options() const noexcept;  ///< The options of the streams.
};

}  // namespace zkrecipes
