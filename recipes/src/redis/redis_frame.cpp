#include "redis/redis_frame.hpp"

#include "topic/topic_frame.hpp"

namespace zkrecipes::detail {

namespace {

json_object streams_record(const redis_frame& frame) {
  auto record = json_object::of_kind("redis_streams");
  record.set("count", std::int64_t{frame.options.shards}).set("hash", "crc32").set("stream", frame.options.stream);
  return record;
}

}  // namespace

awaitable<error_code> agree_on_streams(redis_frame_ptr frame) {
  return agree_on_record(frame->broker.session, frame->where.root, streams_record(*frame));
}

awaitable<error_code> find_streams(redis_frame_ptr frame) {
  return find_record(frame->broker.session, frame->where.root, streams_record(*frame));
}

backend::request request_of_streams(const redis_frame& frame) {
  return make_request(backend::opcode::get, frame.where.root);
}

error_code compare_streams(const redis_frame& frame, const backend::reply& found) {
  return compare_record(found, streams_record(frame));
}

}  // namespace zkrecipes::detail
