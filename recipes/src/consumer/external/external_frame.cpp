#include "external/external_frame.hpp"

#include "topic/topic_frame.hpp"

namespace zkrecipes::detail {

namespace {

json_object source_record(const external_frame& frame, const std::string& kind) {
  auto record = json_object::of_kind(kind);
  record.set("count", std::int64_t{frame.options.shards}).set("source", frame.options.source);
  return record;
}

}  // namespace

awaitable<error_code> agree_on_source(external_frame_ptr frame, std::string kind) {
  return agree_on_record(frame->session, frame->where.root, source_record(*frame, kind));
}

backend::request request_of_source(const external_frame& frame) {
  return make_request(backend::opcode::get, frame.where.root);
}

error_code compare_source(const external_frame& frame, const std::string& kind, const backend::reply& found) {
  return compare_record(found, source_record(frame, kind));
}

}  // namespace zkrecipes::detail
