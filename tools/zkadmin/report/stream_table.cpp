#include <utility>

#include "report/printed.hpp"
#include "report/stream_report.hpp"
#include "report/table_bounds.hpp"
#include "text.hpp"

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

}  // namespace zkadmin
