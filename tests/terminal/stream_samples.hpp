// Sources of messages outside of ZooKeeper, each with some of the problems.
#pragma once

#include "cluster/stream.hpp"

namespace samples {

/// Redis streams with an old message, dead letters, and a position that is damaged.
zkadmin::stream_status log_of_orders();

/// Queues of RabbitMQ, one of which has gone, and one of which nobody consumes.
zkadmin::stream_status queues_of_jobs();

/// Nothing is wrong but that the broker is away.
zkadmin::stream_status without_broker();

}  // namespace samples
