#include "cluster/stream.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/tasks.hpp"
#include "base/text.hpp"
#include "cluster/collector.hpp"
#include "cluster/nodes.hpp"
#include "cluster/recognize.hpp"
#include "cluster/stored_record.hpp"
#include "external/delivery_memory.hpp"
#include "shards/shard_name.hpp"
#include "source/failed_attempts.hpp"
#include "source/source_core.hpp"

namespace zkadmin {
namespace {

constexpr std::size_t longest_record_text = 120;  // bytes, as the next
constexpr std::size_t longest_ranges = 60;

}  // namespace

std::string settled_text(const stream_shard_status& shard) {
  if (shard.is_damaged) return "damaged";
  std::string text = shard.last;
  if (!shard.ahead.empty()) append_to_list(text, "ranges ahead: " + std::to_string(shard.ahead.size()));
  for (const auto& each : shard.runs)
    append_to_list(text, each.producer + " " + shortened(each.ranges, longest_ranges) + " (epoch " + each.epoch + ")");
  if (shard.names > 0) append_to_list(text, "names: " + std::to_string(shard.names));
  if (!shard.record.empty()) append_to_list(text, shortened(shard.record, longest_record_text));
  return text;
}

std::uint64_t failed_of(const stream_group_status& group) noexcept {
  std::uint64_t sum = 0;
  for (const auto& each : group.shards) sum += each.failed;
  return sum;
}

std::uint64_t damaged_of(const stream_group_status& group) noexcept {
  return static_cast<std::uint64_t>(
      std::count_if(group.shards.begin(), group.shards.end(), [](const auto& each) { return each.is_damaged; }));
}

shard_depth_status depth_of(const broker_status& broker, const std::string& group) {
  shard_depth_status sum;
  sum.group = group;
  for (const auto& each : broker.depths) {
    if (!each.group.empty() && each.group != group) continue;
    sum.messages += each.messages;
    sum.is_more = sum.is_more || each.is_more;
    if (each.oldest) sum.oldest = std::max(sum.oldest.value_or(*each.oldest), *each.oldest);
    if (each.consumers) sum.consumers = sum.consumers.value_or(0) + *each.consumers;
  }
  return sum;
}

std::string waiting_text(const shard_depth_status& depth) {
  if (depth.is_missing) return "missing";
  return std::to_string(depth.messages) + (depth.is_more ? "+" : "");
}

namespace {

using zkrecipes::detail::json_object;
using text_list = std::optional<std::vector<std::string>>;

/// A list that is missing is empty. Nothing: it is no list of texts.
text_list texts_of(const json_object& record, std::string_view name) {
  return record.has(name) ? record.texts(name) : text_list(std::in_place);
}

/// "1-29,57 8589934601 orders": the numbers, the epoch and the producer.
settled_run_status run_of(const std::string& text) {
  const auto first = text.find(' ');
  const auto second = text.find(' ', first + 1);
  return {text.substr(second + 1), text.substr(first + 1, second - first - 1), text.substr(0, first)};
}

stream_shard_status damaged_shard() {
  stream_shard_status one;
  one.is_damaged = true;
  return one;
}

/// A position in a log: an entry of a Redis stream, or a place of the user's.
stream_shard_status position_of(const json_object& record) {
  stream_shard_status one;
  auto last = record.text("last");
  auto ahead = texts_of(record, "ahead");
  const auto failed = texts_of(record, "failed");
  if (!last || !ahead || !failed) return damaged_shard();
  const auto is_read = [](const std::string& each) {
    return zkrecipes::detail::parse_failed_attempts(each).has_value();
  };
  if (!std::all_of(failed->begin(), failed->end(), is_read)) return damaged_shard();
  one.last = std::move(*last);
  one.ahead = std::move(*ahead);
  one.failed = failed->size();
  return one;
}

/// RabbitMQ "4.0.5" drops messages of a queue without the argument that has come back 20 times.
bool is_limiting(const std::string& version) {
  const auto major = version.substr(0, version.find('.'));
  return major.size() > 1 ? major.front() != '0' : major >= "4" && major <= "9";
}

/// The library has read it already.
stream_shard_status memory_of(const json_object& record) {
  stream_shard_status one;
  for (const auto& each : texts_of(record, "runs").value_or(std::vector<std::string>()))
    one.runs.push_back(run_of(each));
  one.names = texts_of(record, "names").value_or(std::vector<std::string>()).size();
  one.failed = texts_of(record, "failed").value_or(std::vector<std::string>()).size();
  for (const auto& each : texts_of(record, "missing").value_or(std::vector<std::string>()))
    one.missing.push_back(run_of(each));
  one.may_drop = is_limiting(text_field(record, "broker")) && text_field(record, "delivery_limit").empty();
  return one;
}

}  // namespace

stream_shard_status read_memory(std::string_view data) {
  const auto record = parse_stored(data);
  const auto kind = text_field(record, "zkrecipes");
  if (kind.empty()) return damaged_shard();
  if (kind == "delivery_memory")
    return zkrecipes::detail::parse_delivery_memory(data) ? memory_of(record) : damaged_shard();
  if (kind == "stream_position" || kind == "external_position") return position_of(record);
  stream_shard_status other;
  other.record = data;
  return other;
}

namespace {

namespace asio = boost::asio;
namespace detail = zkrecipes::detail;
using zkrecipes::errc;
using zkrecipes::error_code;

/// By name, and within a group by shard.
using kept_groups = std::map<std::string, std::map<std::uint32_t, stream_shard_status>>;

/// The source as its record tells; a later version may have written more shards than this one can read.
bool read_source_record(std::string_view data, stream_status& into) {
  const auto record = parse_stored(data);
  if (recipe_of(data) != recipe::stream) return false;
  const auto count = record.integer("count", 1, detail::most_shards);
  if (!count) return false;
  into.source = text_field(record, "zkrecipes");
  into.shards = static_cast<std::uint32_t>(*count);
  for (const auto* field : {"stream", "queue", "source"})
    if (into.name.empty()) into.name = text_field(record, field);
  return true;
}

/// The names of the children; none if there is no node.
asio::awaitable<error_code> list_children(zkrecipes::session session, std::string path,
                                          std::vector<std::string>& into) {
  auto listing = co_await session.async_children(std::move(path), as_result);
  const error_code error = std::get<0>(listing);
  if (!error) into = std::move(std::get<1>(listing).names);
  co_return error == errc::no_node ? error_code() : error;
}

/// A node that has gone meanwhile is left out.
asio::awaitable<error_code> add_memory(zkrecipes::session session, std::string path, std::string group,
                                       std::uint32_t shard, kept_groups& into) {
  auto looked = co_await session.async_get(std::move(path), as_result);
  const error_code error = std::get<0>(looked);
  if (error == errc::no_node) co_return error_code();
  if (error) co_return error;
  auto& kept = into[group][shard];
  kept = read_memory(std::get<1>(looked).data);
  kept.shard = shard;
  co_return error_code();
}

asio::awaitable<error_code> add_shard(zkrecipes::session session, std::string path, std::uint32_t shard,
                                      kept_groups& into) {
  const auto folder = detail::source_layout{path}.positions(shard);
  std::vector<std::string> names;
  auto error = co_await list_children(session, folder, names);
  for (const auto& each : names) {
    if (error) break;
    error = co_await add_memory(session, join(folder, each), each, shard, into);
  }
  co_return error;
}

/// Some shards at a time. The first error is returned.
asio::awaitable<error_code> add_shards(zkrecipes::session session, const stream_status& of,
                                       const std::vector<std::string>& children, kept_groups& into) {
  constexpr std::size_t shards_at_a_time = 32;
  std::vector<std::uint32_t> shards;
  for (const auto& each : children) {
    const auto shard = detail::parse_shard_name(each);
    if (shard && *shard < of.shards) shards.push_back(*shard);
  }
  error_code first;
  const auto add = [&](std::size_t i) -> asio::awaitable<void> {
    if (first) co_return;
    const auto error = co_await add_shard(session, of.path, shards[i], into);
    if (error && !first) first = error;
  };
  co_await for_each_index(shards.size(), shards_at_a_time, add);
  co_return first;
}

asio::awaitable<error_code> count_letters(zkrecipes::session session, std::string path, stream_group_status& of) {
  const auto folder = detail::source_layout{path}.dead(of.name);
  auto looked = co_await session.async_exists(folder, as_result);
  const error_code error = std::get<0>(looked);
  if (error == errc::no_node) co_return error_code();
  if (!error) of.dead_letters = static_cast<std::uint64_t>(std::get<1>(looked).num_children);
  co_return error;
}

/// Those that have begun a shard, and those that have only dead letters left.
asio::awaitable<error_code> add_groups(zkrecipes::session session, kept_groups kept, stream_status& to) {
  std::vector<std::string> names;
  auto error = co_await list_children(session, join(to.path, "_dead"), names);
  if (error) co_return error;
  for (const auto& each : names) kept.try_emplace(each);
  for (auto& [name, shards] : kept) {
    stream_group_status group{name};
    for (auto& [number, each] : shards) group.shards.push_back(std::move(each));
    error = co_await count_letters(session, to.path, group);
    if (error) co_return error;
    to.groups.push_back(std::move(group));
  }
  co_return error_code();
}

}  // namespace

asio::awaitable<reading<stream_status>> read_stream(zkrecipes::session session, std::string path) {
  reading<stream_status> result;
  auto& status = result.status;
  status.path = path;
  auto looked = co_await session.async_get(path, as_result);
  result.error = std::get<0>(looked);
  if (result.error) co_return result;
  if (!read_source_record(std::get<1>(looked).data, status)) result.error = errc::foreign_data;
  if (result.error) co_return result;
  std::vector<std::string> children, producers;
  kept_groups kept;
  result.error = co_await list_children(session, path, children);
  if (!result.error) result.error = co_await add_shards(session, status, children, kept);
  if (!result.error) result.error = co_await list_children(session, join(path, "_producers"), producers);
  status.producers = producers.size();
  if (!result.error) result.error = co_await add_groups(std::move(session), std::move(kept), status);
  co_return result;
}

}  // namespace zkadmin
