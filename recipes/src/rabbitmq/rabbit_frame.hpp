// What all parts of one object of RabbitMQ's queues share.
#pragma once

#include <memory>
#include <string>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "broker/broker_frame.hpp"
#include "topic/topic_layout.hpp"

namespace zkrecipes::detail {

/// A queue has no groups; this is the name that memories and dead letters have in ZooKeeper.
inline constexpr auto rabbit_group = "consumers";

struct rabbit_frame {
  broker_frame broker;
  topic_layout where;  ///< Memories, dead letters and producers have the places of those of a topic.
  rabbit_options options;

  std::string queue(std::uint32_t shard) const { return options.queue + ':' + std::to_string(shard); }
};

using rabbit_frame_ptr = std::shared_ptr<const rabbit_frame>;

/// The failure may pass by itself: the broker is tried again.
bool may_recover_rabbit(const error_code& error);

/// Compares the record at the path with our options, and makes it if it is missing. Errors: as `agree_on_record`.
awaitable<error_code> agree_on_queues(rabbit_frame_ptr frame);
/// Compares it only. Errors: `no_node` (there is none), and the same.
awaitable<error_code> find_queues(rabbit_frame_ptr frame);
/// The request that reads it, and what its reply says of our options. Errors: as `compare_record`.
backend::request request_of_queues(const rabbit_frame& frame);
error_code compare_queues(const rabbit_frame& frame, const backend::reply& found);

}  // namespace zkrecipes::detail
