#include "rabbitmq/rabbit_frame.hpp"

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "topic/topic_frame.hpp"

namespace zkrecipes::detail {

namespace {

json_object queues_record(const rabbit_frame& frame) {
  auto record = json_object::of_kind("rabbit_queues");
  record.set("count", std::int64_t{frame.options.shards}).set("hash", "crc32").set("queue", frame.options.queue);
  return record;
}

}  // namespace

bool may_recover_rabbit(const error_code& error) { return error == rabbit_errc::unavailable; }

awaitable<error_code> agree_on_queues(rabbit_frame_ptr frame) {
  return agree_on_record(frame->broker.session, frame->where.root, queues_record(*frame));
}

awaitable<error_code> find_queues(rabbit_frame_ptr frame) {
  return find_record(frame->broker.session, frame->where.root, queues_record(*frame));
}

backend::request request_of_queues(const rabbit_frame& frame) {
  return make_request(backend::opcode::get, frame.where.root);
}

error_code compare_queues(const rabbit_frame& frame, const backend::reply& found) {
  return compare_record(found, queues_record(frame));
}

}  // namespace zkrecipes::detail
