// What the broker's replies mean. It does no I/O.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/error.hpp>

#include "redis/stream_position.hpp"

namespace zkrecipes::detail {

/// What the broker tells of a stream.
struct stream_state {
  stream_id last_generated{};        ///< 0-0: there is no stream, or it has never had an entry.
  std::optional<stream_id> first{};  ///< Nothing: it is empty.
  std::uint64_t length = 0;
  // These are told since Redis 7.
  std::optional<std::uint64_t> added{};        ///< Entries that were ever added.
  std::optional<stream_id> largest_deleted{};  ///< By XDEL.
};

/// Why the stream is not the one that was consumed. Empty: it is, as far as the broker tells. `last`: all up to this
/// entry was consumed; `has_last`: it is in the stream. `farthest`: the last one that was consumed or read.
std::string loss_of(const stream_state& now, const stream_id& last, bool has_last, const stream_id& farthest);

/// An entry of a stream, as it was read.
struct stream_entry {
  stream_id id{};
  std::string key{};
  std::string data{};
  bool has_data = true;  ///< False: the field of the data is missing, and `data` has all fields, as JSON.
};

}  // namespace zkrecipes::detail

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
/// How many entries were counted, and the first of them; 0-0: none. Nothing if the reply is not of the form of our
/// script.
struct counted_entries {
  std::uint64_t count = 0;
  stream_id first{};
  bool is_more = false;  ///< There may be more of them.
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
