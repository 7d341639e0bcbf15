// Putting into RabbitMQ queues so that each message is processed once.
#pragma once

#include <string>

#include <zkrecipes/producer_base.hpp>
#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

namespace zkrecipes {

/// Puts messages into RabbitMQ queues, each into the queue of the shard of its key. A message gets an id before it is
/// sent, and is sent again with the same id until the broker has confirmed it; a consumer remembers the ids of what it
/// has settled as ranges, for the last epochs of each name (docs/recipes/rabbitmq.md), so effects happen once. The id
/// consists of the name, of the epoch, which is the number of a write to ZooKeeper, and of the number of the message in
/// its queue: after a restart there is another epoch. Up to 1 000 messages or 1 MiB of them are unconfirmed at a time,
/// and further puts wait: so a queue that does not confirm can hold up those into others. The producer makes a queue at
/// its first put into it, and keeps its connection to the broker until it is destroyed or its session is closed.
///
/// The broker knows no fence for producers: if two objects have one name, both go on, with epochs of their own. Use one
/// object for a name at a time: a consumer remembers the last 4 epochs of a name, and the 256 names used last.
///
/// It has no `async_last`: the broker tells nobody what it has of a producer, and the next epoch has other numbers, so
/// none would say where to go on. A `spooled_producer` (`spool_into`) goes on behind what was confirmed.
/// Needs the component `rabbitmq`. Thread safety: safe.
class rabbit_producer : public producer_base {
 public:
  rabbit_producer() = default;
  /// `name`: 1 to 200 bytes, no slash, no character that ZooKeeper refuses in paths, and neither "." nor "..".
  /// \throws std::invalid_argument naming the bad name, or if `into` was made by default.
  rabbit_producer(const rabbit_queues& into, std::string name);

  const rabbit_options& options() const noexcept;  ///< The options of the queues.
};

}  // namespace zkrecipes
