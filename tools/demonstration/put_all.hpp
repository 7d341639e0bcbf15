// How a producer puts the messages of a run.
#pragma once

#include <cstdint>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/producer_base.hpp>

#include "roles.hpp"
#include "workload.hpp"

namespace demo {

/// Goes on behind the messages that earlier runs of this producer have put.
boost::asio::awaitable<void> put_all(zkrecipes::producer_base by, std::uint64_t put_so_far,
                                     const producer_settings& how, const workload& work);

/// Puts into the streams of Redis. \throws std::invalid_argument if this was built without the component `redis`.
boost::asio::awaitable<void> put_into_streams(zkrecipes::session session, const producer_settings& how,
                                              const workload& work);

/// Puts into the queues of RabbitMQ. \throws std::invalid_argument if this was built without the component `rabbitmq`.
boost::asio::awaitable<void> put_into_queues(zkrecipes::session session, const producer_settings& how,
                                             const workload& work);

}  // namespace demo
