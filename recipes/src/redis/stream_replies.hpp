// What the broker's replies mean. It does no I/O.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/error.hpp>

#include "redis/stream_entry.hpp"
#include "redis/stream_state.hpp"

struct redisReply;

namespace zkrecipes::detail {

/// The names of the fields of an entry.
struct entry_fields {
  std::string key;
  std::string data;
};

/// The error of an error reply, by its first word.
error_code error_of_redis(std::string_view text);
/// Whether the broker may give another answer later.
bool may_recover(const error_code& error);

/// The error of a reply that is an error, or not of this type (REDIS_REPLY_...).
error_code judge_reply(const redisReply& reply, int type);
/// The same for a reply that is not understood.
error_code refusal_of(const redisReply& reply, int type);
/// The entries of an XREAD of one stream, in order; none if there was nothing to read. Nothing if the reply is not of
/// this form, or if the ids do not grow.
std::optional<std::vector<stream_entry>> parse_entries(const redisReply& reply, const entry_fields& fields);
/// The entries of an XRANGE, in the same way.
std::optional<std::vector<stream_entry>> parse_range(const redisReply& reply, const entry_fields& fields);
/// How many entries there are, and the first of them; 0-0: none. Nothing if the reply is not of the form of our script.
struct counted_entries {
  std::uint64_t count = 0;
  stream_id first{};
};
std::optional<counted_entries> parse_counted(const redisReply& reply);
/// The broker's words in an error reply; for any other that it is not understood.
std::string words_of(const redisReply& reply);
/// The reply to XINFO STREAM. Nothing if the reply is not of this form.
std::optional<stream_state> parse_stream_state(const redisReply& reply);
/// Whether the reply to XINFO STREAM says that there is no such key.
bool is_missing_key(const redisReply& reply);
/// The first word of the reply to ROLE. Nothing if the reply is not of this form.
std::optional<std::string> parse_role(const redisReply& reply);
/// What the reply to ROLE means for the connection.
struct broker_role {
  error_code error{};  ///< None: it is a primary. `unavailable`: it is none.
  std::string words{};
};
broker_role judge_role(const redisReply& reply);

}  // namespace zkrecipes::detail
