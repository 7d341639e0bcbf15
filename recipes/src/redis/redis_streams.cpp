#include <algorithm>
#include <stdexcept>
#include <utility>

#include <zkrecipes/redis_streams.hpp>

#include "redis/redis_core.hpp"
#include "redis/redis_source.hpp"
#include "session/host_list.hpp"
#include "session/make.hpp"
#include "session/paths.hpp"
#include "shards/shard_name.hpp"
#include "topic/topic_frame.hpp"

namespace zkrecipes {

using namespace detail;
using namespace std::chrono_literals;

namespace {

[[noreturn]] void refuse_option(const std::string& field, const std::string& why) {
  throw std::invalid_argument("redis_options::" + field + ": " + why);
}

void require_option(bool is_good, const std::string& field, const std::string& why) {
  if (!is_good) refuse_option(field, why);
}

/// Adds the port of Redis where none is given.
std::string with_ports(const std::string& hosts) {
  std::string all;
  for (std::size_t begin = 0; begin <= hosts.size();) {
    const auto end = std::min(hosts.find(',', begin), hosts.size());
    const auto one = hosts.substr(begin, end - begin);
    const auto from = one.find(']') == one.npos ? 0 : one.find(']');
    all += one;
    if (!one.empty() && one.find(':', from) == one.npos) all += ":6379";
    if (end < hosts.size()) all += ',';
    begin = end + 1;
  }
  return all;
}

std::vector<backend::endpoint> parse_brokers(const std::string& hosts) {
  require_option(hosts.find('/') == hosts.npos, "hosts", "write host:port[,host:port...]; a broker has no root");
  try {
    return parse_hosts(with_ports(hosts)).servers;
  } catch (const std::invalid_argument& problem) {
    refuse_option("hosts", problem.what());
  }
}

void check_group(const std::string& field, const std::string& name) {
  const std::string rule = "a group has 1 to 256 bytes, no '/' and no control characters";
  if (!is_group(name)) throw std::invalid_argument(field + ": " + rule);
}

/// The messages of `tls_context` name a field of `session_options`.
std::shared_ptr<backend::tls_context> load_certificates(const redis_options& options) {
  if (!options.tls) return nullptr;
  try {
    return std::make_shared<backend::tls_context>(*options.tls);
  } catch (const std::invalid_argument& problem) {
    std::string text = problem.what();
    const std::string_view owner = "session_options::";
    if (text.starts_with(owner)) text.replace(0, owner.size(), "redis_options::");
    throw std::invalid_argument(text);
  }
}

void check_redis(const redis_options& options) {
  require_option(!has_nul(options.user), "user", "it must not contain a NUL byte");
  require_option(!has_nul(options.password), "password", "it must not contain a NUL byte");
  require_option(options.user.empty() || !options.password.empty(), "password", "a user needs one");
  const auto& stream = options.stream;
  const bool is_key = !stream.empty() && stream.size() <= 256 && !has_control(stream);
  require_option(is_key, "stream", "it must have 1 to 256 bytes without control characters");
  const bool is_count = options.shards >= 1 && options.shards <= most_shards;
  require_option(is_count, "shards", "it must be 1 to 10 000");
  require_option(!options.key_field.empty(), "key_field", "it must not be empty");
  require_option(!options.data_field.empty(), "data_field", "it must not be empty");
  require_option(options.key_field != options.data_field, "key_field", "it must differ from data_field");
  for (const auto& each : options.groups) check_group("redis_options::groups", each);
  const bool is_ahead = options.read_ahead >= 1 && options.read_ahead <= 100'000;
  require_option(is_ahead, "read_ahead", "it must be 1 to 100 000");
  require_option(options.timeout >= 10ms && options.timeout <= 1h, "timeout", "it must be 10 ms to 1 h");
  const auto& retry = options.retry;
  require_option(retry.first_pause >= 1ms && retry.first_pause <= 1h, "retry.first_pause", "it must be 1 ms to 1 h");
  const bool is_pause = retry.max_pause >= retry.first_pause && retry.max_pause <= 1h;
  require_option(is_pause, "retry.max_pause", "it must be first_pause to 1 h");
}

}  // namespace

redis_streams::redis_streams(session over, std::string path, redis_options options) : session_(std::move(over)) {
  require_path("redis_streams path", path);
  check_redis(options);
  auto brokers = parse_brokers(options.hosts);
  auto tls = load_certificates(options);
  const auto& core = require_session(session_);
  auto frame = std::make_shared<redis_frame>(
      redis_frame{core, topic_layout{std::move(path)}, std::move(options), std::move(brokers), std::move(tls)});
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
  check_group("name of a group", group);
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
