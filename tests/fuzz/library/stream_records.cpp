// Positions in Redis streams, and what a broker answers.
#include <memory>

#include <hiredis/hiredis.h>

#include "fuzz/target.hpp"
#include "redis/redis_core.hpp"
#include "redis/redis_producer_state.hpp"
#include "redis/reply_reader.hpp"
#include "redis/stream_position.hpp"
#include "redis/stream_replies.hpp"
#include "source/log_source.hpp"

namespace fuzz::stream_records_target {

using namespace zkrecipes::detail;

void read_position(std::string_view input) {
  const auto position = parse_stream_position(input);
  if (!position) return;
  const auto text = serialize(*position);
  const auto again = parse_stream_position(text);
  require(again && serialize(*again) == text, "a position reads the same");
}

void read_id(std::string_view input) {
  if (const auto id = parse_stream_id(input)) require(parse_stream_id(to_string(*id)) == id, "an id reads the same");
  shard_of_letter(input, &is_stream_message);
}

void check_entries(const std::optional<std::vector<stream_entry>>& entries) {
  if (!entries) return;
  for (std::size_t i = 1; i < entries->size(); ++i)
    require((*entries)[i - 1].id < (*entries)[i].id, "the ids of entries grow");
}

void read_reply(const redisReply& reply) {
  check_entries(parse_entries(reply, {"key", "data"}));
  check_entries(parse_range(reply, {"key", "data"}));
  parse_stream_state(reply);
  parse_role(reply);
  parse_counted(reply);
  parse_put_answer(reply);
  is_missing_key(reply);
  if (judge_reply(reply, REDIS_REPLY_ARRAY) == zkrecipes::error_code())
    require(reply.type == REDIS_REPLY_ARRAY, "a reply of another type is no array");
  require(bool(refusal_of(reply, REDIS_REPLY_ARRAY)), "a refusal is an error");
  words_of(reply);
}

/// As `redis_link` reads them.
void read_replies(std::string_view input) {
  reply_reader reader;
  reader.feed(input);
  while (const auto* reply = reader.next()) read_reply(*reply);
}

void read_streams(std::string_view input) {
  read_position(input);
  read_replies(input);
  for (const auto& line : lines_of(input)) read_id(line);
}

const target known("stream_records", read_streams);

}  // namespace fuzz::stream_records_target
