// Stands for queue_shards.cpp where there is no rabbitmq-c.
#include "put_all.hpp"
#include "shard_source.hpp"

namespace demo {

shard_source_ptr make_queue_shards(const zkrecipes::session&, std::uint32_t, const std::string&) {
  refuse_source(source_kind::rabbitmq, "librabbitmq-dev");
}

boost::asio::awaitable<void> put_into_queues(zkrecipes::session, const producer_settings&, const workload&) {
  refuse_source(source_kind::rabbitmq, "librabbitmq-dev");
}

}  // namespace demo
