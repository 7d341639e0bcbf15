#include "model/redis/redis_store.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include "format/shown_text.hpp"

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
  if (!text.starts_with(put_begin) || !text.ends_with(put_end)) return std::nullopt;
  if (text.size() < put_begin.size() + put_end.size()) return std::nullopt;
  const auto condition = text.substr(put_begin.size(), text.size() - put_begin.size() - put_end.size());
  if (condition == "if ours == 0 or last ~= ARGV[2] ") return redis_script{script_kind::put};
  if (condition == "if ours == 0 ") return redis_script{script_kind::put, true, false};
  if (condition == "if last ~= ARGV[2] ") return redis_script{script_kind::put, false, true};
  return std::nullopt;
}

using detail::stream_id;

namespace {

constexpr const char* wrong_type = "WRONGTYPE Operation against a key holding the wrong kind of value";
constexpr std::uint64_t generations = 32;

std::string entry_reply(const stream_id& id, const redis_fields& fields) {
  std::vector<std::string> pairs;
  for (const auto& [name, value] : fields) {
    pairs.push_back(resp::text(name));
    pairs.push_back(resp::text(value));
  }
  return resp::list({resp::text(to_string(id)), resp::list(pairs)});
}

std::string entry_or_nothing(const redis_stream& of, bool is_first) {
  if (of.entries.empty()) return resp::nothing();
  const auto& [id, fields] = is_first ? *of.entries.begin() : *of.entries.rbegin();
  return entry_reply(id, fields);
}

std::size_t count_in(const redis_command& command, std::size_t place) {
  if (place + 1 >= command.size() || command[place] != "COUNT") return std::numeric_limits<std::size_t>::max();
  return detail::parse_whole<std::size_t>(command[place + 1]).value_or(0);
}

stream_id id_after(stream_id which) {
  ++which.sequence;
  return which;
}

/// The first and the last id of a range, both included.
std::pair<stream_id, stream_id> bounds_of(const std::string& low, const std::string& high) {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  std::pair<stream_id, stream_id> all{{}, {most, most}};
  if (low.starts_with('(')) all.first = id_after(detail::parse_stream_id(low.substr(1)).value_or(stream_id()));
  if (low != "-" && !low.starts_with('(')) all.first = detail::parse_stream_id(low).value_or(stream_id());
  if (high != "+" && !high.starts_with('(')) all.second = detail::parse_stream_id(high).value_or(stream_id());
  if (!high.starts_with('(')) return all;
  auto& end = all.second = detail::parse_stream_id(high.substr(1)).value_or(stream_id());
  end = end.sequence > 0 ? stream_id{end.ms, end.sequence - 1}
                         : stream_id{end.ms - std::min<std::uint64_t>(end.ms, 1), most};
  return all;
}

}  // namespace

bool redis_store::is_write(const redis_command& command) {
  const auto& name = command.front();
  if (name != "EVAL") return name == "XADD" || name == "XTRIM" || name == "HSET";
  return recognise_script(command.size() > 1 ? command[1] : "").has_value();
}

void redis_store::become(redis_data other) {
  data_ = std::move(other);
  ++generation_;
  watcher_.went_back(data_);
}

/// Entries that are added afterwards have later ids. With a clock that has gone back they can have earlier ones, which
/// a client that waits in XREAD is never told of: docs/recipes/redis.md says so.
void redis_store::remove(const std::string& key, std::uint64_t now) {
  const auto found = data_.streams.find(key);
  if (found == data_.streams.end()) return;
  const auto least = static_cast<std::int64_t>(found->second.last.ms) - static_cast<std::int64_t>(now);
  ahead_ = std::max(ahead_, least) + static_cast<std::int64_t>(2 * generations);
  data_.streams.erase(found);
  ++generation_;  // a fail-over sets the clock anew
  watcher_.deleted(key);
}

std::string redis_store::execute(const redis_command& command, std::uint64_t now) {
  const auto& name = command.front();
  if (name == "XINFO" && command.size() == 3) return info(command[2]);
  if (name == "XRANGE" && command.size() >= 4) return range(command, false);
  if (name == "XREVRANGE" && command.size() >= 4) return range(command, true);
  if (name == "XADD" && command.size() >= 5) return add(command, now);
  if (name == "XTRIM" && command.size() == 5) return trim(command);
  if (name == "HSET" || name == "HGET") return hash(command);
  if (name == "EXISTS" && command.size() == 2) return resp::number(data_.has(command[1]) ? 1 : 0);
  if (name == "EVAL" && command.size() >= 4) return evaluate(command, now);
  return resp::error("ERR unknown command '" + name + "'");
}

std::string redis_store::read(const std::string& stream, const std::string& last, std::size_t most) const {
  const auto found = data_.streams.find(stream);
  const auto after = detail::parse_stream_id(last).value_or(stream_id());
  if (found == data_.streams.end()) return {};
  std::vector<std::string> all;
  const auto& entries = found->second.entries;
  for (auto each = entries.upper_bound(after); each != entries.end() && all.size() < most; ++each) {
    all.push_back(entry_reply(each->first, each->second));
  }
  if (all.empty()) return {};
  return resp::list({resp::list({resp::text(stream), resp::list(all)})});
}

std::string redis_store::info(const std::string& key) const {
  if (data_.hashes.contains(key)) return resp::error(wrong_type);
  const auto found = data_.streams.find(key);
  if (found == data_.streams.end()) return resp::error("ERR no such key");
  const auto& of = found->second;
  const auto first = of.entries.empty() ? stream_id() : of.entries.begin()->first;
  return resp::list({resp::text("length"), resp::number(static_cast<std::int64_t>(of.entries.size())),
                     resp::text("last-generated-id"), resp::text(to_string(of.last)),
                     resp::text("max-deleted-entry-id"), resp::text("0-0"), resp::text("entries-added"),
                     resp::number(static_cast<std::int64_t>(of.added)), resp::text("recorded-first-entry-id"),
                     resp::text(to_string(first)), resp::text("groups"), resp::number(0), resp::text("first-entry"),
                     entry_or_nothing(of, true), resp::text("last-entry"), entry_or_nothing(of, false)});
}

std::string redis_store::range(const redis_command& command, bool is_reverse) const {
  if (data_.hashes.contains(command[1])) return resp::error(wrong_type);
  const auto found = data_.streams.find(command[1]);
  const auto most = count_in(command, 4);
  std::vector<std::string> all;
  if (found == data_.streams.end()) return resp::list(all);
  const auto [low, high] = is_reverse ? bounds_of(command[3], command[2]) : bounds_of(command[2], command[3]);
  for (const auto& [id, fields] : found->second.entries) {
    if (id >= low && id <= high) all.push_back(entry_reply(id, fields));
  }
  if (is_reverse) std::ranges::reverse(all);
  if (all.size() > most) all.resize(most);
  return resp::list(all);
}

/// The last bits tell the generation, so that no id is given again when the data and the clock have gone back.
stream_id redis_store::next_id(const redis_stream& of, std::uint64_t now) const {
  const auto time = static_cast<std::uint64_t>(static_cast<std::int64_t>(now) + ahead_);
  auto ms = time - time % generations + generation_ % generations;
  if (ms > of.last.ms) return {ms, 0};
  ms = of.last.ms - of.last.ms % generations + generation_ % generations;
  if (ms == of.last.ms) return id_after(of.last);
  return {ms > of.last.ms ? ms : ms + generations, 0};
}

std::string redis_store::add(const redis_command& command, std::uint64_t now) {
  const auto& key = command[1];
  if (data_.hashes.contains(key)) return resp::error(wrong_type);
  if (command[2] != "*" || command.size() % 2 == 0) return resp::error("ERR wrong number of arguments for 'xadd'");
  auto& of = data_.streams[key];
  redis_fields fields;
  for (std::size_t i = 3; i < command.size(); i += 2) fields.emplace_back(command[i], command[i + 1]);
  const auto id = next_id(of, now);
  of.last = id;
  ++of.added;
  const auto& kept = of.entries[id] = std::move(fields);
  watcher_.added(key, id, kept);
  return resp::text(to_string(id));
}

/// Some of what may go: where a node of the stream ends is not for the caller to know.
std::string redis_store::trim(const redis_command& command) {
  const auto found = data_.streams.find(command[1]);
  const auto keep = detail::parse_stream_id(command[4]);
  if (command[2] != "MINID" || command[3] != "~" || !keep) return resp::error("ERR syntax error");
  if (found == data_.streams.end()) return resp::number(0);
  auto& entries = found->second.entries;
  const auto most = static_cast<std::uint64_t>(std::distance(entries.begin(), entries.lower_bound(*keep)));
  std::vector<stream_id> gone;
  for (auto left = chance_.below(most + 1); left > 0; --left) {
    gone.push_back(entries.begin()->first);
    entries.erase(entries.begin());
  }
  watcher_.trimmed(command[1], gone);
  return resp::number(static_cast<std::int64_t>(gone.size()));
}

std::string redis_store::hash(const redis_command& command) {
  if (command.size() < 3) return resp::error("ERR wrong number of arguments");
  if (data_.streams.contains(command[1])) return resp::error(wrong_type);
  if (command[0] == "HGET") {
    const auto found = data_.hashes.find(command[1]);
    if (found == data_.hashes.end() || !found->second.contains(command[2])) return "$-1\r\n";
    return resp::text(found->second.at(command[2]));
  }
  auto& of = data_.hashes[command[1]];
  std::int64_t added = 0;
  for (std::size_t i = 2; i + 1 < command.size(); i += 2) {
    added += of.insert_or_assign(command[i], command[i + 1]).second ? 1 : 0;
  }
  return resp::number(added);
}

std::string redis_store::evaluate(const redis_command& command, std::uint64_t now) {
  const auto script = recognise_script(command[1]);
  if (!script) return resp::error("ERR Error compiling script (new function): this model does not know it");
  return script->what == redis_script::kind::claim ? claim(command) : put(*script, command, now);
}

/// EVAL script 1 key by
std::string redis_store::claim(const redis_command& command) {
  const auto& key = command[3];
  if (data_.streams.contains(key)) return resp::error(wrong_type);
  const auto found = data_.hashes.find(key);
  const bool is_ours = found == data_.hashes.end() || found->second["zkrecipes"] == "redis_producer";
  if (!is_ours) return resp::error("WRONGTYPE the key is not that of a producer");
  auto& of = data_.hashes[key];
  of["zkrecipes"] = "redis_producer";
  of["by"] = command[4];
  return resp::list({resp::text(of.contains("last") ? of["last"] : "0"), resp::number(1), resp::text("")});
}

/// EVAL script number keys... by last key_field data_field (stream key data)...
std::string redis_store::put(const redis_script& how, const redis_command& command, std::uint64_t now) {
  const auto keys = detail::parse_whole<std::size_t>(command[2]).value_or(0);
  const redis_command arguments(command.begin() + 3 + static_cast<std::ptrdiff_t>(keys), command.end());
  const auto& key = command[3];
  const auto found = data_.hashes.find(key);
  const auto value = [&](const char* name) {
    return found != data_.hashes.end() && found->second.contains(name) ? found->second.at(name) : std::string();
  };
  const auto last = value("last").empty() ? "0" : value("last");
  const bool is_ours = value("by") == arguments[0];
  const bool is_refused = (how.compares_owner && !is_ours) || (how.compares_number && last != arguments[1]);
  if (is_refused) return resp::list({resp::text(last), resp::number(is_ours ? 1 : 0), resp::text("")});
  auto number = detail::parse_whole<std::uint64_t>(last).value_or(0);
  std::string problem;
  for (std::size_t i = 4; i + 2 < arguments.size() && problem.empty(); i += 3) {
    redis_command one{"XADD", command[2 + detail::parse_whole<std::size_t>(arguments[i]).value_or(1)], "*"};
    if (!arguments[i + 1].empty()) one.insert(one.end(), {arguments[2], arguments[i + 1]});
    one.insert(one.end(), {arguments[3], arguments[i + 2]});
    const auto done = add(one, now);
    if (done.starts_with('-')) problem = done.substr(1, done.size() - 3);
    if (problem.empty()) ++number;
  }
  data_.hashes[key]["last"] = std::to_string(number);
  return resp::list({resp::text(std::to_string(number)), resp::number(1), resp::text(problem)});
}

}  // namespace zkrecipes::simulation
