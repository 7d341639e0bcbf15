#include "model/redis/redis_scripts.hpp"

#include <string_view>

namespace zkrecipes::simulation {

namespace {

using script_kind = redis_script::kind;

constexpr std::string_view claim_text =
    "local kind = redis.pcall('HGET', KEYS[1], 'zkrecipes') "
    "if type(kind) == 'table' then return kind end "
    "if not kind and redis.call('EXISTS', KEYS[1]) == 1 or kind and kind ~= 'redis_producer' then "
    "return redis.error_reply('WRONGTYPE the key is not that of a producer') end "
    "redis.call('HSET', KEYS[1], 'zkrecipes', 'redis_producer', 'by', ARGV[1]) "
    "return {redis.call('HGET', KEYS[1], 'last') or '0', 1, ''}";

constexpr std::string_view count_text =
    "local found = redis.call('XRANGE', KEYS[1], ARGV[1], '+', 'COUNT', ARGV[2]) "
    "return {#found, found[1] and found[1][1] or '0-0'}";

constexpr std::string_view put_begin =
    "local last = redis.call('HGET', KEYS[1], 'last') or '0' "
    "local ours = redis.call('HGET', KEYS[1], 'by') == ARGV[1] and 1 or 0 ";

constexpr std::string_view put_end =
    "then return {last, ours, ''} end "
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

std::optional<redis_script> recognise_script(const std::string& text) {
  if (text == claim_text) return redis_script{script_kind::claim};
  if (text == count_text) return redis_script{script_kind::count};
  if (!text.starts_with(put_begin) || !text.ends_with(put_end)) return std::nullopt;
  if (text.size() < put_begin.size() + put_end.size()) return std::nullopt;
  const auto condition = text.substr(put_begin.size(), text.size() - put_begin.size() - put_end.size());
  if (condition == "if ours == 0 or last ~= ARGV[2] ") return redis_script{script_kind::put};
  if (condition == "if ours == 0 ") return redis_script{script_kind::put, true, false};
  if (condition == "if last ~= ARGV[2] ") return redis_script{script_kind::put, false, true};
  return std::nullopt;
}

}  // namespace zkrecipes::simulation
