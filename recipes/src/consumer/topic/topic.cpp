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
