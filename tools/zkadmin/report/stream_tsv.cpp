#include "report/stream_report.hpp"
#include "report/tsv.hpp"

namespace zkadmin {
namespace {

std::string broker_lines(const std::string& path, const broker_status& broker) {
  std::string text = tsv_line({"broker", path,
                               broker.trouble.empty() ? "told"
                               : broker.is_away       ? "away"
                                                      : "refused",
                               broker.trouble});
  for (const auto& each : broker.depths)
    text += tsv_line({"depth", path, std::to_string(each.shard), each.group, std::to_string(each.messages),
                      each.is_more ? "yes" : "no", each.oldest ? std::to_string(each.oldest->count()) : "",
                      each.consumers ? std::to_string(*each.consumers) : "", each.is_missing ? "missing" : "there"});
  return text;
}

std::string stream_lines(const stream_status& stream) {
  std::string text = tsv_line({"stream", stream.path, stream.source, stream.name, std::to_string(stream.shards),
                               std::to_string(stream.producers), std::to_string(stream.groups.size())});
  for (const auto& group : stream.groups) {
    text += tsv_line({"group", stream.path, group.name, std::to_string(group.shards.size()),
                      std::to_string(failed_of(group)), std::to_string(group.dead_letters),
                      std::to_string(damaged_of(group))});
    for (const auto& each : group.shards)
      text += tsv_line({"shard", stream.path, group.name, std::to_string(each.shard),
                        each.is_damaged ? "damaged" : "readable", std::to_string(each.failed), settled_text(each)});
  }
  return stream.broker ? text + broker_lines(stream.path, *stream.broker) : text;
}

}  // namespace

std::string to_tsv(const known_streams& streams) {
  if (!streams) return tsv_line({"streams", "unknown", ""});
  std::string text =
      tsv_line({"streams", streams->complete ? "complete" : "incomplete", std::to_string(streams->found.size())});
  for (const auto& each : streams->found) text += stream_lines(each);
  for (const auto& each : streams->notes) text += tsv_line({"note", each.path, each.text});
  return text;
}

}  // namespace zkadmin
