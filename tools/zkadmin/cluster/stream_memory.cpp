#include "cluster/stream_memory.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "cluster/stored_record.hpp"
#include "external/delivery_memory.hpp"
#include "topic/failed_attempts.hpp"

namespace zkadmin {
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

}  // namespace zkadmin
