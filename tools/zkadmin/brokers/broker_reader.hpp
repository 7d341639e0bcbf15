// Asks the broker of a source how much waits there.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/collector.hpp"
#include "cluster/stream.hpp"
#include "settings/broker_request.hpp"
#include "settings/settings.hpp"

namespace zkadmin {

/// The same settings. A session that is made with them tells why the broker can not be reached.
settings with_log_of(const broker_place& place, settings wanted);

/// Fills in the `broker` of the source: also that it is away, or refuses. A source that is neither Redis' nor
/// RabbitMQ's is left as it is. `session`: its settings are `with_log_of` the place. Throws `failure` (usage) if the
/// place is none.
boost::asio::awaitable<void> ask_broker(zkrecipes::session session, broker_place place, stream_status& of);

/// As the next two: the error of the broker, or of ZooKeeper. `into` has the depths that were read.
using broker_reader = boost::asio::awaitable<zkrecipes::error_code> (*)(zkrecipes::session, const broker_place&,
                                                                        const stream_status&, broker_status& into);

/// Throw std::invalid_argument if the place is none, or if zkadmin was built without the component.
boost::asio::awaitable<zkrecipes::error_code> read_redis(zkrecipes::session session, const broker_place& place,
                                                         const stream_status& of, broker_status& into);
boost::asio::awaitable<zkrecipes::error_code> read_rabbitmq(zkrecipes::session session, const broker_place& place,
                                                            const stream_status& of, broker_status& into);

/// Whether the broker can not be reached, or does not answer.
bool is_redis_away(const zkrecipes::error_code& error) noexcept;
bool is_rabbitmq_away(const zkrecipes::error_code& error) noexcept;

}  // namespace zkadmin
