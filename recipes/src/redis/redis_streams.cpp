#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/redis/redis_streams.hpp>

#include "broker/broker_connection.hpp"
#include "redis/redis_core.hpp"
#include "redis/stream_reader.hpp"
#include "redis/stream_replies.hpp"
#include "session/core.hpp"
#include "session/outcomes.hpp"
#include "session/paths.hpp"
#include "source/log_source.hpp"

namespace zkrecipes {

namespace {

const char* text_of(redis_errc value) noexcept {
  switch (value) {
    case redis_errc::unavailable: return "the broker does not serve the stream at present";
    case redis_errc::refused_credentials: return "the broker refuses the credentials, or the user may not do it";
    case redis_errc::refused: return "the broker refuses a command";
    case redis_errc::other_node: return "the stream is on another node of a Redis Cluster";
    case redis_errc::unexpected_reply: return "a reply is not one of Redis";
    case redis_errc::source_regressed: return "the stream has lost entries that were consumed";
  }
  return "unknown error";
}

struct redis_errors final : boost::system::error_category {
  const char* name() const noexcept override { return "zkrecipes.redis"; }
  std::string message(int value) const override { return text_of(static_cast<redis_errc>(value)); }
};

}  // namespace

const boost::system::error_category& redis_category() noexcept {
  static const redis_errors instance;
  return instance;
}

error_code make_error_code(redis_errc value) noexcept { return {static_cast<int>(value), redis_category()}; }

}  // namespace zkrecipes

namespace zkrecipes::detail {

/// The messages of one stream, for one group: a log with a position.
class redis_source final : public log_source {
 public:
  redis_source(redis_frame_ptr frame, std::uint32_t shard, std::string group);

  std::string name() const override;
  awaitable<error_code> open() override;
  awaitable<outcome<std::vector<message>>> receive(std::size_t most) override { return reader_.receive(most); }
  std::string problem_of(const std::string& name) const override { return reader_.problem_of(name); }
  awaitable<outcome<std::vector<std::optional<message>>>> read_again(std::vector<std::string> names) override {
    return reader_.read_again(std::move(names));
  }
  bool wants_write() const noexcept override { return reader_.wants_write(); }
  transaction moving_on(const std::vector<settlement>& batch) override;
  awaitable<void> settled(std::vector<settlement> batch) override;
  awaitable<void> close() override;

 private:
  redis_frame_ptr frame_;
  stream_reader reader_;
};

redis_source::redis_source(redis_frame_ptr frame, std::uint32_t shard, std::string group)
    : log_source(frame, shard, group), frame_(std::move(frame)), reader_(frame_, shard, std::move(group), position()) {}

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
  note_settlements(next, batch, &parse_stream_id);
  position().write(all, serialize(next.position()));
  return all;
}

awaitable<void> redis_source::settled(std::vector<settlement> batch) {
  note_settlements(reader_.progress(), batch, &parse_stream_id);
  for (const auto& each : batch) {
    if (each.how != settlement::kind::count_attempt) reader_.forget_problem(each.what->name);
  }
  position().on_written();
  reader_.on_settled();
  co_return;
}

}  // namespace zkrecipes::detail

namespace zkrecipes {

using namespace detail;

namespace {

void check_redis(const broker_settings& check, const redis_options& options) {
  check.require_login(options.user, options.password);
  const auto& stream = options.stream;
  const bool is_key = !stream.empty() && stream.size() <= 256 && !has_control(stream);
  check.require(is_key, "stream", "it must have 1 to 256 bytes without control characters");
  check.require_shards(options.shards);
  check.require(!options.key_field.empty(), "key_field", "it must not be empty");
  check.require(!options.data_field.empty(), "data_field", "it must not be empty");
  check.require(options.key_field != options.data_field, "key_field", "it must differ from data_field");
  for (const auto& each : options.groups) require_name("redis_options::groups", each);
  const bool is_ahead = options.read_ahead >= 1 && options.read_ahead <= 100'000;
  check.require(is_ahead, "read_ahead", "it must be 1 to 100 000");
  check.require_times(options.timeout, options.retry);
}

broker_frame broker_frame_of(const broker_settings& check, const redis_options& options) {
  auto frame = check.frame_of(options, "redis", 6379);
  frame.unavailable = redis_errc::unavailable;
  frame.refused_credentials = redis_errc::refused_credentials;
  frame.may_recover = &may_recover;
  return frame;
}

source_base::core_ptr make_streams(const session& over, std::string path, redis_options options) {
  require_path("redis_streams path", path);
  const broker_settings check("redis_options");
  check_redis(check, options);
  auto broker = broker_frame_of(check, options);
  broker.session = require_session(over);
  auto record = record_of_source("redis_streams", options.shards);
  record.set("stream", options.stream);
  source_frame source{broker.session, {std::move(path)}, std::move(record), options.shards};
  redis_frame frame{std::move(source), std::move(broker), std::move(options)};
  return std::make_shared<redis_core>(std::make_shared<redis_frame>(std::move(frame)));
}

}  // namespace

redis_streams::redis_streams(session over, std::string path, redis_options options)
    : source_base(over, make_streams(over, std::move(path), std::move(options))) {}

std::string redis_streams::stream_of(std::uint32_t shard) const {
  const auto frame = frame_of<redis_frame>(*this);
  return frame ? frame->stream(shard) : std::string();
}

const redis_options& redis_streams::options() const noexcept { return options_of<redis_frame>(*this); }

message_feed redis_streams::feed(std::uint32_t shard, std::string group) const {
  require_shard(*this, "redis_streams", shard);
  require_name("name of a group", group);
  return message_feed(get_session(), std::make_shared<redis_source>(frame_of<redis_frame>(*this), shard, group));
}

}  // namespace zkrecipes
