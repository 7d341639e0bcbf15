#include <stdexcept>
#include <utility>

#include <zkrecipes/consumer/topic.hpp>

#include "session/make.hpp"
#include "session/paths.hpp"
#include "shards/shard_name.hpp"
#include "topic/topic_core.hpp"
#include "topic/topic_source.hpp"

namespace zkrecipes {

using namespace detail;

namespace {

void check(const topic_options& options) {
  using namespace std::chrono_literals;
  if (options.shards < 1 || options.shards > most_shards) {
    throw std::invalid_argument("topic_options::shards: it must be 1 to 10 000");
  }
  const auto& keep = options.retention;
  for (const auto& each : keep.groups) require_name("topic_retention::groups", each);
  if (keep.age && *keep.age < 1s) throw std::invalid_argument("topic_retention::age: it must be at least 1 s");
  if (keep.bytes && *keep.bytes < 1) throw std::invalid_argument("topic_retention::bytes: it must be at least 1");
}

}  // namespace

topic::topic(session over, std::string path, topic_options options) : session_(std::move(over)) {
  require_path("topic path", path);
  check(options);
  const auto& core = require_session(session_);
  auto frame = std::make_shared<topic_frame>(topic_frame{core, topic_layout{std::move(path)}, std::move(options)});
  core_ = std::make_shared<topic_core>(std::move(frame));
}

const std::string& topic::path() const noexcept { return core_ ? core_->frame()->where.root : no_path(); }

const topic_options& topic::options() const noexcept {
  static const topic_options defaults;
  return core_ ? core_->frame()->options : defaults;
}

message_feed topic::feed(std::uint32_t shard, std::string group) const {
  if (!core_) throw std::invalid_argument("topic: one that was made by default has no messages");
  if (shard >= options().shards) throw std::invalid_argument("topic: there is no shard " + shard_name(shard));
  require_name("name of a group", group);
  return message_feed(session_, std::make_shared<topic_source>(core_->frame(), shard, std::move(group)));
}

void topic::start_seek(handler<> h, core_ptr core, std::uint32_t shard, std::string group, topic_position where) {
  launch(std::move(h), std::move(core), &topic_core::seek, shard, std::move(group), where);
}

void topic::start_lag(handler<std::vector<topic_lag>> h, core_ptr core, std::string group) {
  launch(std::move(h), std::move(core), &topic_core::lag, std::move(group));
}

void topic::start_shards(handler<std::vector<topic_shard>> h, core_ptr core) {
  launch(std::move(h), std::move(core), &topic_core::shards);
}

void topic::start_dead_letters(handler<std::vector<dead_letter>> h, core_ptr core, std::string group) {
  launch(std::move(h), std::move(core), &topic_core::dead_letters, std::move(group));
}

void topic::start_revive(handler<> h, core_ptr core, std::string group, dead_letter which) {
  launch(std::move(h), std::move(core), &topic_core::revive, std::move(group), std::move(which));
}

void topic::start_discard(handler<> h, core_ptr core, std::string group, dead_letter which) {
  launch(std::move(h), std::move(core), &topic_core::discard, std::move(group), std::move(which));
}

}  // namespace zkrecipes
