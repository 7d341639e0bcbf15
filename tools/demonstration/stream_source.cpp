// Redis streams as the source of a run.
#include <algorithm>
#include <utility>

#include <boost/asio.hpp>

#include <zkrecipes/redis_producer.hpp>
#include <zkrecipes/redis_streams.hpp>

#include "put_all.hpp"
#include "roles.hpp"
#include "shard_source.hpp"

namespace demo {

namespace asio = boost::asio;

namespace {

zkrecipes::redis_options stream_settings(std::uint32_t shards, const std::string& broker) {
  zkrecipes::redis_options all;
  all.hosts = broker;
  all.stream = "demo";
  all.shards = shards;
  all.groups = {source_group};
  all.timeout = std::chrono::seconds(2);
  return all;
}

class stream_source : public shard_source {
 public:
  stream_source(const zkrecipes::session& over, std::uint32_t shards, const std::string& broker)
      : streams_(over, streams_path, stream_settings(shards, broker)) {}

  zkrecipes::message_feed feed(std::uint32_t shard) const override { return streams_.feed(shard, source_group); }
  asio::awaitable<std::optional<std::uint64_t>> lag() override {
    const std::string group = source_group;
    constexpr auto token = asio::as_tuple(asio::use_awaitable);
    const auto seen = co_await streams_.async_lag(group, token);
    if (std::get<0>(seen)) co_return std::nullopt;
    std::uint64_t sum = 0;
    for (const auto& each : std::get<1>(seen)) sum += each.messages;
    co_return sum;
  }
  asio::awaitable<std::vector<zkrecipes::dead_letter>> dead_letters() override {
    const std::string group = source_group;
    co_return co_await streams_.async_dead_letters(group, asio::use_awaitable);
  }

 private:
  zkrecipes::redis_streams streams_;
};

}  // namespace

shard_source_ptr make_stream_source(const zkrecipes::session& over, std::uint32_t shards, const std::string& broker) {
  return std::make_unique<stream_source>(over, shards, broker);
}

asio::awaitable<void> put_into_streams(zkrecipes::session session, const producer_settings& how, const workload& work) {
  const auto shards = std::max<std::uint32_t>(work.shards(), 1);
  const zkrecipes::redis_streams streams(std::move(session), streams_path, stream_settings(shards, how.broker));
  return put_all(zkrecipes::redis_producer(streams, producer_name), how, work);
}

}  // namespace demo
