#include "report/stream_report.hpp"

#include <utility>

#include "base/text.hpp"
#include "report/formats.hpp"

namespace zkadmin {
namespace {

std::string oldest_text(const shard_depth_status& depth) { return depth.oldest ? short_duration(*depth.oldest) : "-"; }

std::string consumers_text(const shard_depth_status& depth) {
  return depth.consumers ? std::to_string(*depth.consumers) : "-";
}

std::vector<column> group_columns() {
  return {{"GROUP"},
          {"SHARDS BEGUN", 0, true},
          {"TO TRY AGAIN", 0, true},
          {"DEAD LETTERS", 0, true},
          {"WAITING", 0, true},
          {"OLDEST", 0, true}};
}

table_row group_row(const stream_status& stream, const stream_group_status& group) {
  table_row row{{group.name},
                {std::to_string(group.shards.size())},
                {std::to_string(failed_of(group))},
                {std::to_string(group.dead_letters)}};
  const bool is_told = stream.broker && stream.broker->trouble.empty();
  const auto depth = is_told ? depth_of(*stream.broker, group.name) : shard_depth_status();
  row.push_back({is_told ? waiting_text(depth) : "-"});
  row.push_back({oldest_text(depth)});
  return row;
}

/// A row for each group of a source; the facts about the source stand in the first one.
table stream_table(const std::vector<stream_status>& streams) {
  table content;
  content.columns = {{"STREAMS"}, {"SOURCE"}, {"NAME"}, {"SHARDS", 0, true}};
  for (auto& each : group_columns()) content.columns.push_back(std::move(each));
  for (const auto& each : streams) {
    table_row row{{each.path}, {each.source}, {each.name}, {std::to_string(each.shards)}};
    if (each.groups.empty()) {
      row.push_back({"-"});
      content.rows.push_back(row);
    }
    for (const auto& group : each.groups) {
      for (auto& cell : group_row(each, group)) row.push_back(std::move(cell));
      content.rows.push_back(std::exchange(row, {{}, {}, {}, {}}));
    }
  }
  return content;
}

table stream_group_table(const stream_status& stream) {
  table content;
  content.columns = group_columns();
  for (const auto& each : stream.groups) content.rows.push_back(group_row(stream, each));
  return content;
}

/// What the rows of a table had no room for.
void add_row_of_rest(table& content, std::size_t all) {
  if (all > content.rows.size())
    content.rows.push_back({{"and " + std::to_string(all - content.rows.size()) + " more"}});
}

table memory_table(const stream_status& stream) {
  table content;
  content.columns = {{"SHARD", 0, true}, {"GROUP"}, {"TO TRY AGAIN", 0, true}, {"SETTLED"}};
  std::size_t all = 0;
  for (const auto& group : stream.groups) {
    all += group.shards.size();
    for (const auto& each : group.shards) {
      if (content.rows.size() >= for_print.rows) break;
      content.rows.push_back(
          {{std::to_string(each.shard)}, {group.name}, {std::to_string(each.failed)}, {or_dash(settled_text(each))}});
    }
  }
  add_row_of_rest(content, all);
  return content;
}

bool is_worth_a_row(const shard_depth_status& depth) { return depth.messages > 0 || depth.is_missing; }

table depth_table(const broker_status& broker) {
  table content;
  content.columns = {{"SHARD", 0, true}, {"GROUP"}, {"WAITING", 0, true}, {"OLDEST", 0, true}, {"CONNECTED", 0, true}};
  std::size_t all = 0;
  for (const auto& each : broker.depths) {
    if (!is_worth_a_row(each)) continue;
    ++all;
    if (content.rows.size() >= for_print.rows) continue;
    content.rows.push_back({{std::to_string(each.shard)},
                            {or_dash(each.group)},
                            {waiting_text(each)},
                            {oldest_text(each)},
                            {consumers_text(each)}});
  }
  add_row_of_rest(content, all);
  return content;
}

std::string stream_block(const table& content) { return content.rows.empty() ? "" : "\n" + printed(content); }

std::string broker_block(const std::optional<broker_status>& broker) {
  if (!broker) return {};
  if (!broker->trouble.empty())
    return "\nThe broker: " + printable(broker->trouble) + "\n" + stream_block(depth_table(*broker));
  const auto rows = stream_block(depth_table(*broker));
  return rows.empty() ? "\nNothing waits in the broker.\n" : rows;
}

}  // namespace

std::string to_table(const known_streams& streams) {
  if (!streams) return "Streams: not known.\n";
  std::string text = streams->found.empty() ? "" : printed(stream_table(streams->found));
  if (!streams->complete) return text + "There may be more streams than these.\n";
  return streams->found.empty() ? "No streams.\n" : text;
}

std::string to_table(const stream_status& stream) {
  const auto heading = stream.path + ": " + stream.source + " " + stream.name + ", " + std::to_string(stream.shards) +
                       (stream.shards == 1 ? " shard, " : " shards, ") + std::to_string(stream.producers) +
                       (stream.producers == 1 ? " producer" : " producers");
  return printable(heading) + "\n" + stream_block(stream_group_table(stream)) + stream_block(memory_table(stream)) +
         broker_block(stream.broker);
}

namespace {

namespace json = boost::json;

json::array text_array(const std::vector<std::string>& texts) {
  json::array all;
  for (const auto& each : texts) all.push_back(json::value(well_formed(each)));
  return all;
}

json::array run_array(const stream_shard_status& shard) {
  json::array all;
  for (const auto& each : shard.runs)
    all.push_back({{"producer", well_formed(each.producer)}, {"epoch", each.epoch}, {"ranges", each.ranges}});
  return all;
}

json::array memory_array(const stream_group_status& group) {
  json::array all;
  for (const auto& each : group.shards)
    all.push_back(json::object{{"shard", each.shard},
                               {"damaged", each.is_damaged},
                               {"last", or_null(each.last)},
                               {"ahead", text_array(each.ahead)},
                               {"runs", run_array(each)},
                               {"names", each.names},
                               {"to_try_again", each.failed},
                               {"record", or_null(each.record)}});
  return all;
}

json::array stream_group_array(const stream_status& stream) {
  json::array all;
  for (const auto& each : stream.groups)
    all.push_back(json::object{
        {"name", well_formed(each.name)}, {"dead_letters", each.dead_letters}, {"shards", memory_array(each)}});
  return all;
}

json::value broker_value(const std::optional<broker_status>& broker) {
  if (!broker) return nullptr;
  json::array depths;
  for (const auto& each : broker->depths)
    depths.push_back(json::object{{"shard", each.shard},
                                  {"group", or_null(each.group)},
                                  {"messages", each.messages},
                                  {"more", each.is_more},
                                  {"oldest_ms", or_null(each.oldest)},
                                  {"consumers", or_null(each.consumers)},
                                  {"missing", each.is_missing}});
  return json::object{{"trouble", or_null(broker->trouble)}, {"away", broker->is_away}, {"depths", std::move(depths)}};
}

json::object stream_object(const stream_status& stream) {
  json::object object;
  object["path"] = well_formed(stream.path);
  object["source"] = stream.source;
  object["name"] = well_formed(stream.name);
  object["shards"] = stream.shards;
  object["producers"] = stream.producers;
  object["groups"] = stream_group_array(stream);
  object["broker"] = broker_value(stream.broker);
  return object;
}

json::value stream_array(const known_streams& streams) {
  if (!streams) return nullptr;
  json::array all;
  for (const auto& each : streams->found) all.push_back(stream_object(each));
  return all;
}

}  // namespace

std::string to_json(const known_streams& streams) {
  json::object document;
  document["schema"] = 1;
  document["complete"] = streams && streams->complete;
  document["streams"] = stream_array(streams);
  document["notes"] = streams ? note_array(streams->notes) : json::array();
  return json_line(document);
}

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
