#include "rabbitmq/rabbit_source.hpp"

#include <utility>

#include "session/outcomes.hpp"

namespace zkrecipes::detail {

rabbit_source::rabbit_source(rabbit_frame_ptr frame, std::uint32_t shard)
    : log_source(frame->broker.session, frame->where, shard, rabbit_group),
      frame_(std::move(frame)),
      reader_(frame_, shard, position()) {}

std::string rabbit_source::name() const { return "rabbitmq queue " + frame_->queue(shard()); }

awaitable<error_code> rabbit_source::open() {
  reader_.open();
  co_return error_code();
}

awaitable<void> rabbit_source::close() { co_await reader_.close(); }

awaitable<outcome<std::vector<std::optional<message>>>> rabbit_source::read_again(std::vector<std::string> names) {
  co_return outcome<std::vector<std::optional<message>>>(error_code(), reader_.read_again(std::move(names)));
}

/// One write of the memory from its known version, whatever the number of messages.
transaction rabbit_source::moving_on(const std::vector<settlement>& batch) {
  transaction all;
  if (batch.empty()) return all;
  auto next = reader_.progress().memory();
  for (const auto& each : batch) {
    const bool is_failure = each.how == settlement::kind::count_attempt;
    if (is_failure) next.fail(each.what->name, each.first_failed);
    if (!is_failure) reader_.progress().apply(next, each.what->name);
  }
  position().write(all, serialize(next));
  return all;
}

bool rabbit_source::adapt(std::size_t, const error_code& why) { return position().note_refused(why); }

awaitable<void> rabbit_source::settled(std::vector<settlement> batch) {
  for (const auto& each : batch) {
    const bool is_failure = each.how == settlement::kind::count_attempt;
    if (is_failure) reader_.fail(each.what->name, each.first_failed);
    if (!is_failure) reader_.settle(each.what->name);
  }
  position().note_written();
  reader_.acknowledge();
  co_return;
}

}  // namespace zkrecipes::detail
