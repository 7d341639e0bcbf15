#include "external/external_frame.hpp"

#include "topic/topic_frame.hpp"

namespace zkrecipes::detail {

awaitable<error_code> agree_on_source(external_frame_ptr frame, std::string kind) {
  auto record = json_object::of_kind(kind);
  record.set("count", std::int64_t{frame->options.shards}).set("source", frame->options.source);
  return agree_on_record(frame->session, frame->where.root, record);
}

}  // namespace zkrecipes::detail
