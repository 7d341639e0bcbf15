// Queues of RabbitMQ as the source of a run.
#include <algorithm>
#include <cstdint>
#include <utility>

#include <boost/asio.hpp>

#include <zkrecipes/rabbitmq/rabbit_producer.hpp>
#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "put_all.hpp"
#include "roles.hpp"
#include "shard_source.hpp"

namespace demo {

namespace asio = boost::asio;

namespace {

zkrecipes::rabbit_options queue_settings(std::uint32_t shards, const std::string& broker) {
  zkrecipes::rabbit_options all;
  all.hosts = broker;
  all.queue = "demo";
  all.shards = shards;
  all.timeout = std::chrono::seconds(2);
  return all;
}

class queue_shards : public group_source<zkrecipes::rabbit_queues> {
 public:
  explicit queue_shards(const zkrecipes::rabbit_queues& queues) : group_source(queues, queues.queue_group) {}

  zkrecipes::message_feed feed(std::uint32_t shard) const override { return log_.feed(shard); }
  bool counts_in_hand() const noexcept override { return false; }
};

}  // namespace

shard_source_ptr make_queue_shards(const zkrecipes::session& over, std::uint32_t shards, const std::string& broker) {
  return std::make_unique<queue_shards>(zkrecipes::rabbit_queues(over, queues_path, queue_settings(shards, broker)));
}

asio::awaitable<void> put_into_queues(zkrecipes::session session, const producer_settings& how, const workload& work) {
  const auto shards = std::max<std::uint32_t>(work.shards(), 1);
  const zkrecipes::rabbit_queues queues(std::move(session), queues_path, queue_settings(shards, how.broker));
  return put_all(zkrecipes::rabbit_producer(queues, producer_name), 0, how, work);  // nothing tells what was put
}

}  // namespace demo
