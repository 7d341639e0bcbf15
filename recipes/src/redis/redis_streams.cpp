#include <stdexcept>
#include <utility>

#include <zkrecipes/redis/redis_streams.hpp>

#include "broker/broker_settings.hpp"
#include "redis/redis_core.hpp"
#include "redis/redis_source.hpp"
#include "redis/stream_replies.hpp"
#include "session/make.hpp"
#include "session/paths.hpp"
#include "shards/shard_name.hpp"

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
