#include "topic/topic_source.hpp"

#include <algorithm>
#include <utility>

#include "session/outcomes.hpp"
#include "shards/shard_name.hpp"

namespace zkrecipes::detail {

namespace {

/// Whether nobody else needs what this group has consumed, so that it is removed at once.
bool removes_consumed(const topic_retention& keep, const std::string& group) {
  return keep.groups.size() == 1 && keep.groups.front() == group && !keep.age && !keep.bytes;
}

}  // namespace

topic_source::topic_source(topic_frame_ptr topic, std::uint32_t shard, std::string group)
    : log_source(topic, shard, group),
      topic_(std::move(topic)),
      reader_(topic_, shard, position()),
      trimmer_(std::make_shared<log_trimmer>(topic_, shard, removes_consumed(topic_->options.retention, group))),
      removes_at_once_(removes_consumed(topic_->options.retention, group)) {}

std::string topic_source::name() const {
  return "topic " + topic_->where.root + ", shard " + shard_name(shard()) + ", group " + group();
}

awaitable<error_code> topic_source::open() {
  reader_.open();
  finished_.clear();
  removing_.clear();
  kept_.clear();
  removals_ = most_removals;
  refusals_ = 0;
  trimmer_->start();
  co_return error_code();
}

awaitable<void> topic_source::close() {
  reader_.open();
  trimmer_->stop();
  co_return;
}

/// One write of the position from its known version, whatever the number of messages. The first operation.
transaction topic_source::moving_on(const std::vector<settlement>& batch) {
  transaction all;
  removing_.clear();
  if (batch.empty()) return all;
  auto next = reader_.progress();
  for (const auto& each : batch) apply(next, each);
  position().write(all, serialize(next.position()));
  if (!removes_at_once_) return all;
  auto numbers = next.take_finished();
  for (const auto& [number, each] : finished_) numbers.push_back(number);
  for (const auto number : numbers) {
    const auto* which = kept_.contains(number) ? nullptr : name_of_finished(number);
    if (!which || removing_.size() >= removals_) continue;
    removing_.push_back(number);
    all.remove(batch_path(topic_->where, shard(), which->name));
  }
  return all;
}

const batch_name* topic_source::name_of_finished(std::int32_t number) const {
  const auto found = finished_.find(number);
  return found != finished_.end() ? &found->second : reader_.removable(number);
}

/// That a batch can not be removed stands in nobody's way. A position that can not be written does.
bool topic_source::adapt(std::size_t operation, const error_code& why) {
  if (operation == 0 || operation > removing_.size()) return position().on_refused(why);
  if (why == errc::no_auth) removes_at_once_ = false;
  kept_.insert(removing_[operation - 1]);
  finished_.erase(removing_[operation - 1]);
  // Each try finds one that stays. If there are many, what is behind it is left to a later commit.
  if (++refusals_ == most_refusals) removals_ = operation - 1;
  return true;
}

awaitable<void> topic_source::settled(std::vector<settlement> batch) {
  auto& progress = reader_.progress();
  for (const auto& each : batch) apply(progress, each);
  position().on_written();
  const auto numbers = progress.take_finished();
  if (!numbers.empty() && !removes_at_once_) trimmer_->on_consumed();
  for (const auto number : numbers) {
    auto which = reader_.drop(number);
    if (which && !kept_.contains(number)) finished_.emplace(number, std::move(*which));
  }
  for (const auto number : removing_) finished_.erase(number);
  removing_.clear();
  removals_ = most_removals;
  refusals_ = 0;
  if (!removes_at_once_) finished_.clear();
  co_return;
}

void topic_source::apply(log_progress& to, const settlement& each) const {
  const auto which = parse_message_name(each.what->name);
  if (!which) return;
  if (each.how == settlement::kind::count_attempt) return to.fail(*which, each.first_failed);
  to.settle(*which);
}

}  // namespace zkrecipes::detail
