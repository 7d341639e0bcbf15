#include "cluster/stream_status.hpp"

#include <algorithm>

#include "text.hpp"

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

}  // namespace zkadmin
