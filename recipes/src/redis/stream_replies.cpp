#include "redis/stream_replies.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <hiredis/hiredis.h>

#include <zkrecipes/redis/redis_streams.hpp>

#include "format/json_object.hpp"
#include "format/shown_text.hpp"
#include "redis/reply_reader.hpp"

namespace zkrecipes::detail {

namespace {

/// Whether the stream had this entry, as far as the broker tells, given that it has not got it now. Consumers and
/// operators remove entries, so that it is missing says nothing by itself.
bool may_have_had(const stream_state& now, const stream_id& missing) {
  if (now.length == 0 || !now.first || !now.added) return true;
  if (*now.first > missing) return *now.added > now.length;  // removed by XTRIM or by XDEL
  return !now.largest_deleted || *now.largest_deleted >= missing;
}

}  // namespace

std::string loss_of(const stream_state& now, const stream_id& last, bool has_last, const stream_id& farthest) {
  if (now.last_generated < farthest) {
    return "the last id of the stream is " + to_string(now.last_generated) + ", and " + to_string(farthest) +
           " was read from it before";
  }
  if (last == stream_id() || has_last || may_have_had(now, last)) return {};
  return "the entry " + to_string(last) +
         ", which was consumed or read, is not in the stream, and was not removed from it";
}

namespace {

bool is_text(const redisReply& reply) { return reply.type == REDIS_REPLY_STRING || reply.type == REDIS_REPLY_STATUS; }

bool is_list(const redisReply& reply, std::size_t size) {
  return reply.type == REDIS_REPLY_ARRAY && reply.elements == size;
}

std::optional<stream_id> parse_id(const redisReply& reply) {
  return reply.type == REDIS_REPLY_STRING ? parse_stream_id(text_in(reply)) : std::nullopt;
}

/// All fields, so that the dead letter of an entry tells what it was.
std::string fields_as_json(const redisReply& fields) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < fields.elements; ++i) all.emplace_back(text_in(*fields.element[i]));
  return json_object().set("fields", all).to_text();
}

std::optional<stream_entry> parse_entry(const redisReply& reply, const entry_fields& fields) {
  if (!is_list(reply, 2)) return std::nullopt;
  const auto id = parse_id(*reply.element[0]);
  const auto& pairs = *reply.element[1];
  const bool are_pairs = pairs.type == REDIS_REPLY_ARRAY && pairs.elements % 2 == 0;
  if (!id || !are_pairs) return std::nullopt;
  stream_entry entry;
  entry.id = *id;
  entry.has_data = false;
  for (std::size_t i = 0; i < pairs.elements; i += 2) {
    const auto& name = *pairs.element[i];
    const auto& value = *pairs.element[i + 1];
    if (name.type != REDIS_REPLY_STRING || value.type != REDIS_REPLY_STRING) return std::nullopt;
    if (text_in(name) == fields.key) entry.key = text_in(value);
    if (text_in(name) != fields.data) continue;
    entry.data = text_in(value);
    entry.has_data = true;
  }
  if (!entry.has_data) entry.data = fields_as_json(pairs);
  return entry;
}

std::optional<std::uint64_t> parse_count(const redisReply& reply) {
  if (reply.type != REDIS_REPLY_INTEGER || reply.integer < 0) return std::nullopt;
  return static_cast<std::uint64_t>(reply.integer);
}

/// The value of a field of XINFO; null: it is not there.
const redisReply* find_field(const redisReply& reply, std::string_view name) {
  for (std::size_t i = 0; i + 1 < reply.elements; i += 2) {
    if (is_text(*reply.element[i]) && text_in(*reply.element[i]) == name) return reply.element[i + 1];
  }
  return nullptr;
}

template <std::size_t Size>
bool begins_with_one_of(std::string_view text, const std::array<std::string_view, Size>& all) {
  return std::ranges::any_of(all, [text](std::string_view each) { return text.starts_with(each); });
}

constexpr std::array<std::string_view, 9> credential_errors{
    "NOAUTH",
    "WRONGPASS",
    "NOPERM",
    "ERR invalid password",
    "ERR AUTH",
    "ERR Client sent AUTH",
    "ERR The user executing the script",  // 7.0, of a command in a script
    "ERR ACL failure in script",          // 7.2
    "The user executing the script",      // 6.2
};
constexpr std::array<std::string_view, 11> passing_errors{"LOADING",
                                                          "BUSY ",
                                                          "TRYAGAIN",
                                                          "MASTERDOWN",
                                                          "CLUSTERDOWN",
                                                          "READONLY",
                                                          "UNBLOCKED",
                                                          "OOM",
                                                          "MISCONF",
                                                          "NOREPLICAS",
                                                          "ERR max number of clients"};
constexpr std::array<std::string_view, 2> cluster_errors{"MOVED ", "ASK "};

/// Redis 6.2 puts the place in a script in front of the words of a command: "@user_script: 1: -OOM command not
/// allowed", and "ERR Error running script (call to f_0): " in front of that if the script has not caught it.
std::string_view without_place(std::string_view text) {
  constexpr std::string_view script = "@user_script:";
  if (!text.starts_with(script) && !text.starts_with("ERR Error running script")) return text;
  const auto place = text.rfind(script);
  const auto end = place == text.npos ? place : text.find(": ", place + script.size());
  if (end == text.npos) return text;
  text.remove_prefix(end + 2);
  if (text.starts_with('-')) text.remove_prefix(1);
  return text;
}

}  // namespace

error_code error_of_redis(std::string_view text) {
  text = without_place(text);
  if (begins_with_one_of(text, credential_errors)) return redis_errc::refused_credentials;
  if (begins_with_one_of(text, passing_errors)) return redis_errc::unavailable;
  if (begins_with_one_of(text, cluster_errors)) return redis_errc::other_node;
  return text.starts_with("WRONGTYPE") ? make_error_code(errc::foreign_data) : make_error_code(redis_errc::refused);
}

bool may_recover(const error_code& error) { return error == redis_errc::unavailable; }

error_code judge_reply(const redisReply& reply, int type) {
  if (reply.type == REDIS_REPLY_ERROR) return error_of_redis(text_in(reply));
  return reply.type == type ? error_code() : make_error_code(redis_errc::unexpected_reply);
}

std::optional<std::vector<stream_entry>> parse_entries(const redisReply& reply, const entry_fields& fields) {
  if (reply.type == REDIS_REPLY_NIL) return std::vector<stream_entry>();
  if (!is_list(reply, 1) || !is_list(*reply.element[0], 2)) return std::nullopt;
  return parse_range(*reply.element[0]->element[1], fields);
}

std::optional<std::vector<stream_entry>> parse_range(const redisReply& reply, const entry_fields& fields) {
  if (reply.type != REDIS_REPLY_ARRAY) return std::nullopt;
  std::vector<stream_entry> all;
  all.reserve(reply.elements);
  for (std::size_t i = 0; i < reply.elements; ++i) {
    auto one = parse_entry(*reply.element[i], fields);
    if (!one || (!all.empty() && one->id <= all.back().id)) return std::nullopt;
    all.push_back(std::move(*one));
  }
  return all;
}

std::string words_of(const redisReply& reply) {
  return reply.type == REDIS_REPLY_ERROR ? std::string(text_in(reply)) : std::string("not a reply of Redis");
}

std::optional<stream_state> parse_stream_state(const redisReply& reply) {
  if (reply.type != REDIS_REPLY_ARRAY) return std::nullopt;
  stream_state state;
  const auto* length = find_field(reply, "length");
  const auto* last = find_field(reply, "last-generated-id");
  const auto count = length ? parse_count(*length) : std::nullopt;
  const auto id = last ? parse_id(*last) : std::nullopt;
  if (!count || !id) return std::nullopt;
  state.length = *count;
  state.last_generated = *id;
  const auto* first = find_field(reply, "first-entry");
  if (first && first->type == REDIS_REPLY_ARRAY && first->elements > 0) state.first = parse_id(*first->element[0]);
  if (const auto* added = find_field(reply, "entries-added")) state.added = parse_count(*added);
  if (const auto* deleted = find_field(reply, "max-deleted-entry-id")) state.largest_deleted = parse_id(*deleted);
  return state;
}

bool is_missing_key(const redisReply& reply) {
  return reply.type == REDIS_REPLY_ERROR && text_in(reply).starts_with("ERR no such key");
}

std::optional<counted_entries> parse_counted(const redisReply& reply) {
  if (!is_list(reply, 3)) return std::nullopt;
  const auto count = parse_count(*reply.element[0]);
  const auto first = parse_id(*reply.element[1]);
  const auto more = parse_count(*reply.element[2]);
  if (!count || !first || !more) return std::nullopt;
  return counted_entries{*count, *first, *more != 0};
}

error_code refusal_of(const redisReply& reply, int type) {
  const auto why = judge_reply(reply, type);
  return why ? why : make_error_code(redis_errc::unexpected_reply);
}

std::optional<std::string> parse_role(const redisReply& reply) {
  const bool has_role = reply.type == REDIS_REPLY_ARRAY && reply.elements > 0 && is_text(*reply.element[0]);
  return has_role ? std::optional(std::string(text_in(*reply.element[0]))) : std::nullopt;
}

broker_role judge_role(const redisReply& reply) {
  const auto role = parse_role(reply);
  if (!role) return {refusal_of(reply, REDIS_REPLY_ARRAY), words_of(reply)};
  if (*role == "master") return {};
  return {redis_errc::unavailable, "it is no primary, but a " + *role};
}

}  // namespace zkrecipes::detail
