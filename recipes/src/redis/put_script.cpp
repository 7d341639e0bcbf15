#include "redis/put_script.hpp"

#include <map>
#include <string_view>

#include <hiredis/hiredis.h>

#include "format/whole_number.hpp"
#include "redis/reply_text.hpp"

namespace zkrecipes::detail {

namespace {

/// KEYS: the producer. ARGV: by.
constexpr const char* claim_script =
    "local kind = redis.pcall('HGET', KEYS[1], 'zkrecipes') "
    "if type(kind) == 'table' then return kind end "
    "if not kind and redis.call('EXISTS', KEYS[1]) == 1 or kind and kind ~= 'redis_producer' then "
    "return redis.error_reply('WRONGTYPE the key is not that of a producer') end "
    "redis.call('HSET', KEYS[1], 'zkrecipes', 'redis_producer', 'by', ARGV[1]) "
    "return {redis.call('HGET', KEYS[1], 'last') or '0', 1, ''}";

/// KEYS: the producer, and the streams. ARGV: by, the number of the last message, the names of the fields; then for
/// each message its stream, as a place in KEYS, its key and its data. The number is written first: a broker that does
/// not let us write it, or is out of memory, refuses the first write of a script, and nothing was put then. A message
/// that is refused leaves those in front of it in their streams, so the number has to tell of them.
constexpr const char* put_script =
    "local last = redis.call('HGET', KEYS[1], 'last') or '0' "
    "local ours = redis.call('HGET', KEYS[1], 'by') == ARGV[1] and 1 or 0 "
    "if ours == 0 or last ~= ARGV[2] then return {last, ours, ''} end "
    "local put, problem = tonumber(last), '' "
    "local function note(number) "
    "last = string.format('%.0f', number) "
    "redis.call('HSET', KEYS[1], 'last', last) end "
    "note(put + (#ARGV - 4) / 3) "
    "for i = 5, #ARGV, 3 do "
    "local stream, done = KEYS[tonumber(ARGV[i])] "
    "if ARGV[i + 1] == '' then done = redis.pcall('XADD', stream, '*', ARGV[4], ARGV[i + 2]) "
    "else done = redis.pcall('XADD', stream, '*', ARGV[3], ARGV[i + 1], ARGV[4], ARGV[i + 2]) end "
    "if type(done) == 'table' and done['err'] then problem = done['err'] break end "
    "put = put + 1 end "
    "if problem ~= '' then note(put) end "
    "return {last, 1, problem}";

}  // namespace

std::vector<std::string> claim_command(const std::string& producer, const std::string& by) {
  return {"EVAL", claim_script, "1", producer, by};
}

std::vector<std::string> put_command(const redis_options& options, const std::string& producer, const std::string& by,
                                     std::uint64_t last, const std::vector<stream_put>& all) {
  std::map<std::string_view, std::size_t> places;
  std::vector<std::string> keys{producer};
  for (const auto& each : all) {
    if (places.emplace(each.stream, keys.size() + 1).second) keys.push_back(each.stream);
  }
  std::vector<std::string> command{"EVAL", put_script, std::to_string(keys.size())};
  command.insert(command.end(), keys.begin(), keys.end());
  command.insert(command.end(), {by, std::to_string(last), options.key_field, options.data_field});
  for (const auto& each : all) {
    command.insert(command.end(), {std::to_string(places.at(each.stream)), each.key, each.data});
  }
  return command;
}

std::optional<put_answer> parse_put_answer(const redisReply& reply) {
  if (reply.type != REDIS_REPLY_ARRAY || reply.elements != 3) return std::nullopt;
  const auto& last = *reply.element[0];
  const auto& ours = *reply.element[1];
  const auto& problem = *reply.element[2];
  const bool is_form =
      last.type == REDIS_REPLY_STRING && ours.type == REDIS_REPLY_INTEGER && problem.type == REDIS_REPLY_STRING;
  const auto number = is_form ? parse_whole<std::uint64_t>(text_in(last)) : std::nullopt;
  if (!number) return std::nullopt;
  return put_answer{*number, ours.integer == 1, std::string(text_in(problem))};
}

}  // namespace zkrecipes::detail
