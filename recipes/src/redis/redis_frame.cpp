#include "redis/redis_frame.hpp"

#include "topic/topic_frame.hpp"

namespace zkrecipes::detail {

awaitable<error_code> agree_on_streams(redis_frame_ptr frame) {
  auto record = json_object::of_kind("redis_streams");
  record.set("count", std::int64_t{frame->options.shards}).set("hash", "crc32").set("stream", frame->options.stream);
  return agree_on_record(frame->session, frame->where.root, std::move(record));
}

}  // namespace zkrecipes::detail
