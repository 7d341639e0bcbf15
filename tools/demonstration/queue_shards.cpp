// Queues of RabbitMQ as the source of a run.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

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

class queue_shards : public shard_source {
 public:
  explicit queue_shards(zkrecipes::rabbit_queues queues) : queues_(std::move(queues)) {}

  zkrecipes::message_feed feed(std::uint32_t shard) const override { return queues_.feed(shard); }
  asio::awaitable<std::optional<std::uint64_t>> lag() override {
    const std::string group = queues_.queue_group;
    constexpr auto token = asio::as_tuple(asio::use_awaitable);
    const auto seen = co_await queues_.async_lag(group, token);
    if (std::get<0>(seen)) co_return std::nullopt;
    std::uint64_t sum = 0;
    for (const auto& each : std::get<1>(seen)) sum += each.messages;
    co_return sum;
  }
  bool counts_in_hand() const noexcept override { return false; }
  asio::awaitable<std::vector<zkrecipes::dead_letter>> dead_letters() override {
    const std::string group = queues_.queue_group;
    co_return co_await queues_.async_dead_letters(group, asio::use_awaitable);
  }

 private:
  zkrecipes::rabbit_queues queues_;
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
