// Redis streams as the source of a run.
#include <algorithm>
#include <utility>

#include <boost/asio.hpp>

#include <zkrecipes/redis/redis_producer.hpp>
#include <zkrecipes/redis/redis_streams.hpp>

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

}  // namespace

shard_source_ptr make_stream_source(const zkrecipes::session& over, std::uint32_t shards, const std::string& broker) {
  return std::make_unique<log_source<zkrecipes::redis_streams>>(
      zkrecipes::redis_streams(over, streams_path, stream_settings(shards, broker)));
}

asio::awaitable<void> put_into_streams(zkrecipes::session session, const producer_settings& how, const workload& work) {
  const auto shards = std::max<std::uint32_t>(work.shards(), 1);
  const zkrecipes::redis_streams streams(std::move(session), streams_path, stream_settings(shards, how.broker));
  zkrecipes::redis_producer producer(streams, producer_name);
  const auto put_so_far = co_await producer.async_last(asio::use_awaitable);
  co_await put_all(producer, put_so_far, how, work);
}

}  // namespace demo
