#include "redis/redis_core.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <hiredis/hiredis.h>

#include <zkrecipes/redis/redis_streams.hpp>

#include "redis/stream_position.hpp"
#include "redis/stream_replies.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

using stream_lags = std::vector<source_lag>;
using stream_ids = std::vector<stream_id>;

constexpr std::uint32_t streams_at_once = 100;
constexpr std::uint64_t most_lag_counted = 10'000;

/// Counts in the broker, so that the entries need not be sent: 100 at a time, and no more behind 16 MiB, because the
/// broker serves nobody else meanwhile.
constexpr const char* count_script =
    "local count, bytes, from, first, more = 0, 0, ARGV[1], '0-0', false "
    "repeat "
    "  local some = redis.call('XRANGE', KEYS[1], from, '+', 'COUNT', 100) "
    "  for _, each in ipairs(some) do "
    "    if count == 0 then first = each[1] end "
    "    count, from = count + 1, '(' .. each[1] "
    "    for _, text in ipairs(each[2]) do bytes = bytes + #text end "
    "  end "
    "  more = #some == 100 "
    "until not more or count > tonumber(ARGV[2]) or bytes > 16777216 "
    "return {count, first, more and 1 or 0}";

std::string behind(const stream_id& id) { return id == stream_id() ? "-" : '(' + to_string(id); }

}  // namespace

awaitable<error_code> redis_core::ask(redis_connection& by, redis_questions all, bool may_repeat) {
  return ask_broker(streams_, by, std::move(all), may_repeat, streams_->session->retry_deadline());
}

awaitable<outcome<std::string>> redis_core::record_at(std::uint32_t shard, source_position where, std::string seek) {
  auto found = co_await last_in_front_of(shard, std::move(where));
  stream_position position;
  position.last = std::get<1>(found);
  position.seek = std::move(seek);
  co_return outcome<std::string>(std::get<0>(found), serialize(position));
}

/// An entry that is there, because a position behind one that never was would look like a loss. In front of 0-0 the
/// broker takes no interval.
awaitable<outcome<stream_id>> redis_core::last_in_front_of(std::uint32_t shard, source_position where) {
  const bool is_first = where.what() == source_position::kind::at && parse_stream_id(where.name()) == stream_id();
  const bool is_begin = is_first || where.what() == source_position::kind::begin;
  if (is_begin) co_return outcome<stream_id>(error_code(), stream_id());
  const auto stream = streams_->stream(shard);
  const auto last = std::make_shared<stream_id>();
  const auto asked = std::make_shared<redis_question>();
  if (where.what() == source_position::kind::end) {
    asked->command = {"XINFO", "STREAM", stream};
    asked->take = [last](const redisReply& reply) {
      if (is_missing_key(reply)) return error_code();
      const auto state = parse_stream_state(reply);
      if (state) *last = state->last_generated;
      return state ? error_code() : refusal_of(reply, REDIS_REPLY_ARRAY);
    };
  } else {
    asked->command = {"XREVRANGE", stream, '(' + where.name(), "-", "COUNT", "1"};
    asked->take = [last](const redisReply& reply) {
      const auto entries = parse_range(reply, {});
      if (entries && !entries->empty()) *last = entries->front().id;
      return entries ? error_code() : refusal_of(reply, REDIS_REPLY_ARRAY);
    };
  }
  redis_connection broker(streams_);
  redis_questions one;
  one.push_back(asked);
  const auto error = co_await ask(broker, std::move(one), true);
  co_return outcome<stream_id>(error, *last);
}

awaitable<error_code> redis_core::read_lags(std::string group, stream_lags& into) {
  error_code error;
  redis_connection broker(streams_);
  const auto count = streams_->shards;
  for (std::uint32_t from = 0; !error && from < count; from += streams_at_once) {
    error = co_await add_lags(broker, from, std::min(from + streams_at_once, count), group, into);
  }
  co_return error;
}

awaitable<outcome<stream_ids>> redis_core::positions(std::uint32_t from, std::uint32_t to, std::string group) {
  std::vector<backend::request> looks;
  for (auto shard = from; shard < to; ++shard)
    looks.push_back(make_request(opcode::get, streams_->where.position(shard, group)));
  auto seen = co_await streams_->session->perform_all(std::move(looks));
  stream_ids all;
  for (const auto& each : seen) {
    if (each.error && each.error != errc::no_node) co_return failed<stream_ids>(each.error);
    const auto position = each.error ? stream_position() : parse_stream_position(each.data);
    if (!position) co_return failed<stream_ids>(errc::foreign_data);
    all.push_back(position->last);
  }
  co_return outcome<stream_ids>(error_code(), std::move(all));
}

/// The positions first: what is consumed between the two reads counts as lag.
awaitable<error_code> redis_core::add_lags(redis_connection& by, std::uint32_t from, std::uint32_t to,
                                           std::string group, stream_lags& into) {
  auto found = co_await positions(from, to, std::move(group));
  if (std::get<0>(found)) co_return std::get<0>(found);
  const auto wall = get_scheduler()->world->wall_clock().time_since_epoch();
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(wall);
  const auto lags = std::make_shared<stream_lags>(to - from);
  redis_questions all;
  for (auto shard = from; shard < to; ++shard) {
    const auto place = shard - from;
    const auto asked = std::make_shared<redis_question>();
    asked->command = {"EVAL",
                      count_script,
                      "1",
                      streams_->stream(shard),
                      behind(std::get<1>(found)[place]),
                      std::to_string(most_lag_counted)};
    asked->take = [lags, shard, place, now](const redisReply& reply) {
      const auto counted = parse_counted(reply);
      if (!counted) return refusal_of(reply, REDIS_REPLY_ARRAY);
      const auto age = now - std::chrono::milliseconds(counted->first.ms);
      const auto oldest = counted->count > 0 ? std::max(age, std::chrono::milliseconds(0)) : age.zero();
      (*lags)[place] = {.shard = shard,
                        .messages = std::min(counted->count, most_lag_counted),
                        .is_more = counted->is_more || counted->count > most_lag_counted,
                        .oldest = oldest};
      return error_code();
    };
    all.push_back(asked);
  }
  const auto error = co_await ask(by, std::move(all), true);
  if (!error) into.insert(into.end(), lags->begin(), lags->end());
  co_return error;
}

awaitable<error_code> redis_core::put(std::uint32_t shard, dead_letter which, std::int64_t) {
  const auto asked = std::make_shared<redis_question>();
  asked->command = {"XADD", streams_->stream(shard), "*"};
  const auto add = [&asked](const std::string& name, const std::string& value) {
    asked->command.push_back(name);
    asked->command.push_back(value);
  };
  if (!which.key.empty()) add(streams_->options.key_field, which.key);
  add(streams_->options.data_field, which.data);
  asked->take = [](const redisReply& reply) { return judge_reply(reply, REDIS_REPLY_STRING); };
  redis_connection broker(streams_);
  redis_questions one;
  one.push_back(asked);
  co_return co_await ask(broker, std::move(one), false);
}

}  // namespace zkrecipes::detail
