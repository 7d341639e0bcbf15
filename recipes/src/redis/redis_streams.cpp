#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/redis/redis_streams.hpp>

#include "broker/broker_settings.hpp"
#include "redis/redis_core.hpp"
#include "redis/stream_reader.hpp"
#include "redis/stream_replies.hpp"
#include "session/make.hpp"
#include "session/outcomes.hpp"
#include "session/paths.hpp"
#include "shards/shard_name.hpp"
#include "topic/log_source.hpp"

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
  bool can_read_again() const noexcept override { return true; }
  bool wants_write() const noexcept override { return reader_.wants_write(); }
  transaction moving_on(const std::vector<settlement>& batch) override;
  bool adapt(std::size_t operation, const error_code& why) override;
  awaitable<void> settled(std::vector<settlement> batch) override;
  awaitable<void> close() override;

 private:
  static void apply(stream_progress& to, const settlement& each);

  redis_frame_ptr frame_;
  stream_reader reader_;
};

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

namespace zkrecipes {

using namespace detail;

namespace {

void check_redis(const broker_settings& check, const redis_options& options) {
  check.require_login(options.user, options.password);
  const auto& stream = options.stream;
  const bool is_key = !stream.empty() && stream.size() <= 256 && !has_control(stream);
  check.require(is_key, "stream", "it must have 1 to 256 bytes without control characters");
  const bool is_count = options.shards >= 1 && options.shards <= most_shards;
  check.require(is_count, "shards", "it must be 1 to 10 000");
  check.require(!options.key_field.empty(), "key_field", "it must not be empty");
  check.require(!options.data_field.empty(), "data_field", "it must not be empty");
  check.require(options.key_field != options.data_field, "key_field", "it must differ from data_field");
  for (const auto& each : options.groups) require_name("redis_options::groups", each);
  const bool is_ahead = options.read_ahead >= 1 && options.read_ahead <= 100'000;
  check.require(is_ahead, "read_ahead", "it must be 1 to 100 000");
  check.require_times(options.timeout, options.retry);
}

/// What connections need, but for the session.
broker_frame broker_frame_of(const broker_settings& check, const redis_options& options) {
  broker_frame frame;
  frame.kind = "redis";
  frame.brokers = check.parse_brokers(options.hosts, 6379);
  frame.tls = check.load_certificates(options.tls);
  frame.timeout = options.timeout;
  frame.retry = options.retry;
  frame.unavailable = redis_errc::unavailable;
  frame.refused_credentials = redis_errc::refused_credentials;
  frame.may_recover = &may_recover;
  return frame;
}

}  // namespace

redis_streams::redis_streams(session over, std::string path, redis_options options) : session_(std::move(over)) {
  require_path("redis_streams path", path);
  const broker_settings check("redis_options");
  check_redis(check, options);
  auto broker = broker_frame_of(check, options);
  broker.session = require_session(session_);
  auto frame =
      std::make_shared<redis_frame>(redis_frame{std::move(broker), topic_layout{std::move(path)}, std::move(options)});
  core_ = std::make_shared<redis_core>(std::move(frame));
}

std::string redis_streams::stream_of(std::uint32_t shard) const {
  return core_ ? core_->frame()->stream(shard) : std::string();
}

const std::string& redis_streams::path() const noexcept { return core_ ? core_->frame()->where.root : no_path(); }

std::uint32_t redis_streams::shards() const noexcept { return core_ ? core_->frame()->options.shards : 1; }

message_feed redis_streams::feed(std::uint32_t shard, std::string group) const {
  if (!core_) throw std::invalid_argument("redis_streams: an object that was made by default has no messages");
  if (shard >= shards()) throw std::invalid_argument("redis_streams: there is no shard " + shard_name(shard));
  require_name("name of a group", group);
  return message_feed(session_, std::make_shared<redis_source>(core_->frame(), shard, std::move(group)));
}

void redis_streams::start_seek(handler<> h, core_ptr core, std::uint32_t shard, std::string group,
                               redis_position where) {
  launch(std::move(h), std::move(core), &redis_core::seek, shard, std::move(group), std::move(where));
}

void redis_streams::start_lag(handler<std::vector<redis_lag>> h, core_ptr core, std::string group) {
  launch(std::move(h), std::move(core), &redis_core::lag, std::move(group));
}

void redis_streams::start_dead_letters(handler<std::vector<dead_letter>> h, core_ptr core, std::string group) {
  launch(std::move(h), std::move(core), &redis_core::dead_letters, std::move(group));
}

void redis_streams::start_revive(handler<> h, core_ptr core, std::string group, dead_letter which) {
  launch(std::move(h), std::move(core), &redis_core::revive, std::move(group), std::move(which));
}

void redis_streams::start_discard(handler<> h, core_ptr core, std::string group, dead_letter which) {
  launch(std::move(h), std::move(core), &redis_core::discard, std::move(group), std::move(which));
}

}  // namespace zkrecipes
