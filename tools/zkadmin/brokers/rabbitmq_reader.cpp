// What waits in queues of RabbitMQ.
#include <utility>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "base/tasks.hpp"
#include "brokers/broker_reader.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using zkrecipes::error_code;

zkrecipes::rabbit_options options_of_queues(const broker_place& place, const stream_status& of) {
  zkrecipes::rabbit_options options;
  options.hosts = place.hosts;
  if (place.user) {
    options.user = *place.user;
    options.password = place.password;
  }
  if (!place.space.empty()) options.virtual_host = place.space;
  options.tls = place.tls;
  options.queue = of.name;
  options.shards = of.shards;
  options.timeout = place.share;
  return options;
}

}  // namespace

asio::awaitable<error_code> read_rabbitmq(zkrecipes::session session, const broker_place& place,
                                          const stream_status& of, broker_status& into) {
  zkrecipes::rabbit_queues queues(std::move(session), of.path, options_of_queues(place, of));
  const std::string group = queues.queue_group;
  auto seen = co_await queues.async_lag(group, as_result);
  for (const auto& each : std::get<1>(seen)) {
    shard_depth_status depth{each.shard, "", each.messages};
    depth.consumers = each.consumers;
    depth.is_missing = each.is_missing;
    into.depths.push_back(std::move(depth));
  }
  co_return std::get<0>(seen);
}

bool is_rabbitmq_away(const error_code& error) noexcept { return error == zkrecipes::rabbit_errc::unavailable; }

}  // namespace zkadmin
