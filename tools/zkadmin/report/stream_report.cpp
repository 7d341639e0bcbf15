#include "report/stream_report.hpp"

#include <utility>

#include "base/text.hpp"
#include "report/formats.hpp"

namespace zkadmin {
namespace {

namespace json = boost::json;

std::vector<column> group_columns() {
  return {{"GROUP"},
          {"SHARDS BEGUN", 0, true},
          {"TO TRY AGAIN", 0, true},
          {"DEAD LETTERS", 0, true},
          {"WAITING", 0, true},
          {"OLDEST", 0, true}};
}

table_row group_row(const stream_status& stream, const stream_group_status& group) {
  const bool is_told = stream.broker && stream.broker->trouble.empty();
  const auto depth = is_told ? depth_of(*stream.broker, group.name) : shard_depth_status();
  return row_of(group.name, group.shards.size(), failed_of(group), group.dead_letters,
                is_told ? waiting_text(depth) : "-", depth.oldest);
}

/// A row for each group of a source; the facts about the source stand in the first one.
table stream_table(const std::vector<stream_status>& streams) {
  table content;
  content.columns = {{"STREAMS"}, {"SOURCE"}, {"NAME"}, {"SHARDS", 0, true}};
  for (const auto& each : streams)
    add_rows_of_groups(content, row_of(each.path, each.source, each.name, each.shards), each.groups,
                       [&each](const auto& group) { return group_row(each, group); });
  for (auto& each : group_columns()) content.columns.push_back(std::move(each));
  return content;
}

table memory_table(const stream_status& stream) {
  std::vector<std::pair<std::string, stream_shard_status>> all;
  for (const auto& group : stream.groups)
    for (const auto& each : group.shards) all.emplace_back(group.name, each);
  const auto row = [](const auto& each) {
    const auto& [group, shard] = each;
    return row_of(shard.shard, group, shard.failed, or_dash(settled_text(shard)));
  };
  return table_of({{"SHARD", 0, true}, {"GROUP"}, {"TO TRY AGAIN", 0, true}, {"SETTLED"}}, all, row, for_print.rows);
}

table depth_table(const broker_status& broker) {
  auto depths = broker.depths;
  std::erase_if(depths, [](const auto& each) { return each.messages == 0 && !each.is_missing; });
  const auto row = [](const shard_depth_status& each) {
    return row_of(each.shard, or_dash(each.group), waiting_text(each), each.oldest, each.consumers);
  };
  return table_of({{"SHARD", 0, true}, {"GROUP"}, {"WAITING", 0, true}, {"OLDEST", 0, true}, {"CONNECTED", 0, true}},
                  depths, row, for_print.rows);
}

std::string broker_block(const std::optional<broker_status>& broker) {
  if (!broker) return {};
  const auto rows = block(depth_table(*broker));
  if (!broker->trouble.empty()) return "\nThe broker: " + printable(broker->trouble) + "\n" + rows;
  return rows.empty() ? "\nNothing waits in the broker.\n" : rows;
}

json::object memory_object(const stream_shard_status& shard) {
  const auto run = [](const settled_run_status& each) {
    return json::object{{"producer", well_formed(each.producer)}, {"epoch", each.epoch}, {"ranges", each.ranges}};
  };
  return {{"shard", shard.shard},
          {"damaged", shard.is_damaged},
          {"last", or_null(shard.last)},
          {"ahead", text_array(shard.ahead)},
          {"runs", array_of(shard.runs, run)},
          {"names", shard.names},
          {"to_try_again", shard.failed},
          {"record", or_null(shard.record)}};
}

json::object stream_group_object(const stream_group_status& group) {
  return {{"name", well_formed(group.name)},
          {"dead_letters", group.dead_letters},
          {"shards", array_of(group.shards, memory_object)}};
}

json::object depth_object(const shard_depth_status& depth) {
  return {{"shard", depth.shard},       {"group", or_null(depth.group)},      {"messages", depth.messages},
          {"more", depth.is_more},      {"oldest_ms", or_null(depth.oldest)}, {"consumers", or_null(depth.consumers)},
          {"missing", depth.is_missing}};
}

json::value broker_value(const std::optional<broker_status>& broker) {
  if (!broker) return nullptr;
  return json::object{{"trouble", or_null(broker->trouble)},
                      {"away", broker->is_away},
                      {"depths", array_of(broker->depths, depth_object)}};
}

json::object stream_object(const stream_status& stream) {
  return {{"path", well_formed(stream.path)},     {"source", stream.source},
          {"name", well_formed(stream.name)},     {"shards", stream.shards},
          {"producers", stream.producers},        {"groups", array_of(stream.groups, stream_group_object)},
          {"broker", broker_value(stream.broker)}};
}

std::string broker_lines(const std::string& path, const broker_status& broker) {
  const auto* const answer = broker.trouble.empty() ? "told" : broker.is_away ? "away" : "refused";
  auto text = tsv_line("broker", path, answer, broker.trouble);
  for (const auto& each : broker.depths)
    text += tsv_line("depth", path, each.shard, each.group, each.messages, each.is_more, each.oldest, each.consumers,
                     each.is_missing ? "missing" : "there");
  return text;
}

std::string stream_lines(const stream_status& stream) {
  const auto& path = stream.path;
  auto text =
      tsv_line("stream", path, stream.source, stream.name, stream.shards, stream.producers, stream.groups.size());
  for (const auto& group : stream.groups) {
    text += tsv_line("group", path, group.name, group.shards.size(), failed_of(group), group.dead_letters,
                     damaged_of(group));
    for (const auto& each : group.shards)
      text += tsv_line("shard", path, group.name, each.shard, each.is_damaged ? "damaged" : "readable", each.failed,
                       settled_text(each));
  }
  return stream.broker ? text + broker_lines(path, *stream.broker) : text;
}

}  // namespace

std::string to_table(const known_streams& streams) {
  const bool is_any = streams && !streams->found.empty();
  return survey_table(streams, "streams", is_any ? printed(stream_table(streams->found)) : "");
}

std::string to_table(const stream_status& stream) {
  const auto heading = stream.path + ": " + stream.source + " " + stream.name + ", " + counted(stream.shards, "shard") +
                       ", " + counted(stream.producers, "producer");
  const auto groups =
      table_of(group_columns(), stream.groups, [&stream](const auto& each) { return group_row(stream, each); });
  return printable(heading) + "\n" + block(groups) + block(memory_table(stream)) + broker_block(stream.broker);
}

std::string to_json(const known_streams& streams) { return survey_json(streams, "streams", stream_object); }

std::string to_tsv(const known_streams& streams) { return survey_tsv(streams, "streams", stream_lines); }

}  // namespace zkadmin
