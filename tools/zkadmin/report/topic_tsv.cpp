#include "report/topic_report.hpp"
#include "report/tsv.hpp"

namespace zkadmin {
namespace {

std::string topic_lines(const topic_status& topic) {
  const auto kept = total_of(topic.kept);
  std::string text = tsv_line({"topic", topic.path, std::to_string(topic.shards), std::to_string(kept.batches),
                               std::to_string(kept.messages), std::to_string(topic.groups.size())});
  for (const auto& each : topic.kept)
    text += tsv_line(
        {"shard", topic.path, std::to_string(each.shard), std::to_string(each.batches), std::to_string(each.messages)});
  for (const auto& group : topic.groups) {
    const auto lag = total_of(group.behind);
    text += tsv_line({"group", topic.path, group.name, std::to_string(lag.messages), std::to_string(lag.batches),
                      lag.messages > 0 ? std::to_string(lag.oldest.count()) : "", std::to_string(group.behind.size()),
                      std::to_string(group.dead_letters)});
    for (const auto& each : group.behind)
      text += tsv_line({"lag", topic.path, group.name, std::to_string(each.shard), std::to_string(each.messages),
                        std::to_string(each.batches), std::to_string(each.oldest.count())});
  }
  return text;
}

}  // namespace

std::string to_tsv(const known_topics& topics) {
  if (!topics) return tsv_line({"topics", "unknown", ""});
  std::string text =
      tsv_line({"topics", topics->complete ? "complete" : "incomplete", std::to_string(topics->found.size())});
  for (const auto& each : topics->found) text += topic_lines(each);
  for (const auto& each : topics->notes) text += tsv_line({"note", each.path, each.text});
  return text;
}

}  // namespace zkadmin
