#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/consumer/topic.hpp>

#include "session/core.hpp"
#include "session/outcomes.hpp"
#include "session/paths.hpp"
#include "shards/shard_name.hpp"
#include "source/log_source.hpp"
#include "topic/log_reader.hpp"
#include "topic/log_trimmer.hpp"
#include "topic/topic_core.hpp"

namespace zkrecipes::detail {

// The messages of one shard of a topic, for one group: a log with a position.

class topic_source final : public log_source {
 public:
  topic_source(topic_frame_ptr topic, std::uint32_t shard, std::string group);

  /// What a topic takes fits into a letter.
  traits get_traits() const override {
    auto all = log_source::get_traits();
    all.cuts_letters = false;
    return all;
  }
  std::string name() const override;
  awaitable<error_code> open() override;
  awaitable<outcome<std::vector<message>>> receive(std::size_t most) override { return reader_.receive(most); }
  std::uint64_t take_passed_over() override { return reader_.take_passed_over(); }
  std::string problem_of(const std::string& name) const override { return reader_.problem_of(name); }
  awaitable<outcome<std::vector<std::optional<message>>>> read_again(std::vector<std::string> names) override {
    return reader_.read_again(std::move(names));
  }
  transaction moving_on(const std::vector<settlement>& batch) override;
  bool adapt(std::size_t operation, const error_code& why) override;
  awaitable<void> settled(std::vector<settlement> batch) override;
  awaitable<void> close() override;

 private:
  const batch_name* name_of_finished(std::int32_t number) const;

  static constexpr std::size_t most_removals = 1'000;  // of a commit
  static constexpr std::size_t most_refusals = 16;

  topic_frame_ptr topic_;
  log_reader reader_;
  std::shared_ptr<log_trimmer> trimmer_;
  bool removes_at_once_;                         // nobody else needs what this group has consumed
  std::map<std::int32_t, batch_name> finished_;  // settled as a whole, and to be removed with the next commit
  std::vector<std::int32_t> removing_;           // those that the last commit removes
  std::set<std::int32_t> kept_;                  // their removal was refused
  std::size_t removals_ = most_removals;         // of the next try to commit
  std::size_t refusals_ = 0;                     // of tries before it
};

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
  note_settlements(next, batch, &parse_message_name);
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

/// A batch that can not be removed is left, and the commit goes on without it. A refused write of the position is for
/// `position_node` to judge.
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
  note_settlements(progress, batch, &parse_message_name);
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

}  // namespace zkrecipes::detail

namespace zkrecipes {

using namespace detail;

namespace {

void check(const topic_options& options) {
  using namespace std::chrono_literals;
  option_checks("topic_options").require_shards(options.shards);
  const auto& keep = options.retention;
  for (const auto& each : keep.groups) require_name("topic_retention::groups", each);
  if (keep.age && *keep.age < 1s) throw std::invalid_argument("topic_retention::age: it must be at least 1 s");
  if (keep.bytes && *keep.bytes < 1) throw std::invalid_argument("topic_retention::bytes: it must be at least 1");
}

source_base::core_ptr make_topic(const session& over, std::string path, topic_options options) {
  require_path("topic path", path);
  check(options);
  const auto shards = options.shards;
  return std::make_shared<topic_core>(std::make_shared<topic_frame>(topic_frame{
      {require_session(over), {std::move(path)}, record_of_source("topic", shards), shards}, std::move(options)}));
}

}  // namespace

topic::topic(session over, std::string path, topic_options options)
    : source_base(over, make_topic(over, std::move(path), std::move(options))) {}

const topic_options& topic::options() const noexcept { return options_of<topic_frame>(*this); }

message_feed topic::feed(std::uint32_t shard, std::string group) const {
  require_shard(*this, "topic", shard);
  require_name("name of a group", group);
  return message_feed(get_session(), std::make_shared<topic_source>(frame_of<topic_frame>(*this), shard, group));
}

void topic::start_shards(handler_for<void(error_code, std::vector<topic_shard>)> h, core_ptr core) {
  launch(std::move(h), std::static_pointer_cast<topic_core>(core), &topic_core::shards);
}

}  // namespace zkrecipes
