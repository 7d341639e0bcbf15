// What all parts of one object of RabbitMQ's queues share.
#pragma once

#include <memory>
#include <string>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "broker/broker_connection.hpp"
#include "source/source_core.hpp"

namespace zkrecipes::detail {

struct rabbit_frame : source_frame {
  broker_frame broker;
  rabbit_options options;

  std::string queue(std::uint32_t shard) const { return options.queue + ':' + std::to_string(shard); }
};

using rabbit_frame_ptr = std::shared_ptr<const rabbit_frame>;

/// The failure may pass by itself: the broker is tried again.
inline bool may_recover_rabbit(const error_code& error) { return error == rabbit_errc::unavailable; }

}  // namespace zkrecipes::detail
