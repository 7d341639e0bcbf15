#include "shard_source.hpp"

#include <zkrecipes/consumer/topic.hpp>

#include "log_source.hpp"
#include "roles.hpp"

namespace demo {

shard_source_ptr make_shard_source(source_kind which, const zkrecipes::session& over, std::uint32_t shards,
                                   const std::string& broker) {
  if (which == source_kind::redis) return make_stream_source(over, shards, broker);
  if (which == source_kind::rabbitmq) return make_queue_shards(over, shards, broker);
  return std::make_unique<log_source<zkrecipes::topic>>(zkrecipes::topic(over, topic_path, topic_settings(shards)));
}

}  // namespace demo
