#include "problems/stream_rules.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "text.hpp"

namespace zkadmin {
namespace {

constexpr std::size_t longest_of_list = 200;  // Bytes of a list of groups or shards.

/// Adds the problems of one source.
struct stream_findings {
  const stream_status& stream;
  problem_list found{};

  void add(const char* name, severity how_bad, const char* begin, const std::string& list) {
    if (!list.empty()) found.push_back({name, how_bad, stream.path, begin + shortened(list, longest_of_list)});
  }
};

void judge_shard(const stream_shard_status& shard, std::string& missing, std::string& limited) {
  const auto number = std::to_string(shard.shard);
  for (const auto& each : shard.missing)
    append_to_list(missing, "shard " + number + ": " + each.ranges + " (epoch " + each.epoch + ") of " + each.producer);
  if (shard.may_drop) append_to_list(limited, number);
}

void judge_records(stream_findings& about) {
  std::string letters, damaged, missing, limited;
  for (const auto& group : about.stream.groups) {
    if (group.dead_letters > 0) append_to_list(letters, std::to_string(group.dead_letters) + " of " + group.name);
    for (const auto& each : group.shards) {
      judge_shard(each, missing, limited);
      if (each.is_damaged) append_to_list(damaged, "shard " + std::to_string(each.shard) + " of " + group.name);
    }
  }
  about.add("dead-letters", severity::warning, "dead letters: ", letters);
  about.add("missing-messages", severity::critical, "have not come, although later ones have: ", missing);
  about.add("low-delivery-limit", severity::warning,
            "the broker drops messages that have come back 20 times, unless a policy says otherwise: in shard ",
            limited);
  about.add("damaged-position", severity::critical, "not to be read by consumers, which stop there: ", damaged);
}

bool is_begun(const stream_status& stream, std::uint32_t shard) {
  const auto has_it = [shard](const stream_group_status& group) {
    return std::any_of(group.shards.begin(), group.shards.end(),
                       [shard](const auto& each) { return each.shard == shard; });
  };
  return std::any_of(stream.groups.begin(), stream.groups.end(), has_it);
}

void judge_age(stream_findings& about, const broker_status& broker, const problem_limits& limits) {
  std::string behind;
  for (const auto& group : about.stream.groups) {
    const auto lag = depth_of(broker, group.name);
    if (lag.messages > 0 && lag.oldest && *lag.oldest > limits.message_limit)
      append_to_list(behind,
                     group.name + " (" + short_duration(*lag.oldest) + ", " + waiting_text(lag) + " messages behind)");
  }
  about.add("old-messages", severity::warning, "old messages wait for ", behind);
}

void judge_broker(stream_findings& about, const broker_status& broker, const problem_limits& limits) {
  if (broker.is_away) about.add("broker-away", severity::critical, "its broker: ", broker.trouble);
  std::string missing, alone;
  for (const auto& each : broker.depths) {
    if (each.is_missing && is_begun(about.stream, each.shard)) append_to_list(missing, std::to_string(each.shard));
    if (each.messages > 0 && each.consumers == 0u)
      append_to_list(alone, std::to_string(each.shard) + " (" + std::to_string(each.messages) + " messages)");
  }
  about.add("missing-queue", severity::critical, "queues that were consumed have gone: of shard ", missing);
  about.add("queue-without-consumers", severity::warning, "messages wait, and nobody is connected: in shard ", alone);
  judge_age(about, broker, limits);
}

}  // namespace

problem_list problems_of(const stream_status& stream, const problem_limits& limits) {
  stream_findings about{stream};
  judge_records(about);
  if (stream.broker) judge_broker(about, *stream.broker, limits);
  return std::move(about.found);
}

}  // namespace zkadmin
