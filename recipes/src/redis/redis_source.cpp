#include "redis/redis_source.hpp"

#include "session/outcomes.hpp"

namespace zkrecipes::detail {

redis_source::redis_source(redis_frame_ptr frame, std::uint32_t shard, std::string group)
    : log_source(frame->broker.session, frame->where, shard, group),
      frame_(std::move(frame)),
      reader_(frame_, shard, std::move(group), position()) {}

std::string redis_source::name() const { return "redis stream " + frame_->stream(shard()) + ", group " + group(); }

awaitable<error_code> redis_source::open() {
  reader_.open();
  co_return error_code();
}

awaitable<void> redis_source::close() {
  reader_.open();
  co_return;
}

/// One write of the position from its known version, whatever the number of messages.
transaction redis_source::moving_on(const std::vector<settlement>& batch) {
  transaction all;
  if (batch.empty() && !wants_write()) return all;
  auto next = reader_.progress();
  for (const auto& each : batch) apply(next, each);
  position().write(all, serialize(next.position()));
  return all;
}

bool redis_source::adapt(std::size_t, const error_code& why) { return position().note_refused(why); }

awaitable<void> redis_source::settled(std::vector<settlement> batch) {
  for (const auto& each : batch) {
    apply(reader_.progress(), each);
    if (each.how != settlement::kind::count_attempt) reader_.forget_problem(each.what->name);
  }
  position().note_written();
  reader_.note_settled();
  co_return;
}

void redis_source::apply(stream_progress& to, const settlement& each) {
  const auto which = parse_stream_id(each.what->name);
  if (!which) return;
  if (each.how == settlement::kind::count_attempt) return to.fail(*which, each.first_failed);
  to.settle(*which);
}

}  // namespace zkrecipes::detail
