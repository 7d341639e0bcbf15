#include "report/topic_report.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "report/formats.hpp"

namespace zkadmin {
namespace {

namespace json = boost::json;

/// What each shard keeps, and the messages of it that each group has still to consume, in the order of the groups.
struct shard_row {
  topic_shard_status kept{};
  std::vector<std::uint64_t> lags{};

  std::uint64_t worst() const { return lags.empty() ? 0 : *std::max_element(lags.begin(), lags.end()); }
};

/// Those with the largest lag first, then those that keep the most.
std::vector<shard_row> shard_rows(const topic_status& topic) {
  std::map<std::uint32_t, shard_row> rows;
  const auto row_at = [&](std::uint32_t number) -> shard_row& {
    auto& row = rows[number];
    row.kept.shard = number;
    row.lags.resize(topic.groups.size());
    return row;
  };
  for (const auto& each : topic.kept) row_at(each.shard).kept = each;
  for (std::size_t i = 0; i < topic.groups.size(); ++i)
    for (const auto& each : topic.groups[i].behind) row_at(each.shard).lags[i] = each.messages;
  std::vector<shard_row> sorted;
  for (auto& [number, row] : rows) sorted.push_back(std::move(row));
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::pair(a.worst(), a.kept.messages) > std::pair(b.worst(), b.kept.messages);
  });
  return sorted;
}

/// The age of the oldest; nothing if there are none.
std::optional<std::chrono::milliseconds> oldest_of(const topic_shard_status& lag) {
  return lag.messages > 0 ? std::optional(lag.oldest) : std::nullopt;
}

table_row lag_row(const topic_group_status& group) {
  const auto lag = total_of(group.behind);
  return row_of(group.name, lag.messages, oldest_of(lag), group.behind.size(), group.dead_letters);
}

std::vector<column> lag_columns() {
  return {{"GROUP"}, {"LAG", 0, true}, {"OLDEST", 0, true}, {"SHARDS BEHIND", 0, true}, {"DEAD LETTERS", 0, true}};
}

/// A row for each group of a topic; the facts about the topic stand in the first one.
table topic_table(const std::vector<topic_status>& topics) {
  table content;
  content.columns = {{"TOPIC"}, {"SHARDS", 0, true}, {"BATCHES", 0, true}, {"MESSAGES", 0, true}};
  for (const auto& each : topics) {
    const auto kept = total_of(each.kept);
    add_rows_of_groups(content, row_of(each.path, each.shards, kept.batches, kept.messages), each.groups, lag_row);
  }
  for (auto& each : lag_columns()) content.columns.push_back(std::move(each));
  return content;
}

json::array behind_array(const topic_group_status& group) {
  return array_of(group.behind, [](const topic_shard_status& each) {
    return json::object{{"shard", each.shard},
                        {"batches", each.batches},
                        {"messages", each.messages},
                        {"oldest_ms", each.oldest.count()}};
  });
}

json::object consumer_group_object(const topic_group_status& group) {
  const auto lag = total_of(group.behind);
  return {{"name", well_formed(group.name)},    {"lag", lag.messages},
          {"lag_batches", lag.batches},         {"oldest_ms", or_null(oldest_of(lag))},
          {"dead_letters", group.dead_letters}, {"behind", behind_array(group)}};
}

json::object topic_object(const topic_status& topic) {
  const auto kept = total_of(topic.kept);
  const auto kept_object = [](const topic_shard_status& each) {
    return json::object{{"shard", each.shard}, {"batches", each.batches}, {"messages", each.messages}};
  };
  return {{"path", well_formed(topic.path)},
          {"shards", topic.shards},
          {"batches", kept.batches},
          {"messages", kept.messages},
          {"kept", array_of(topic.kept, kept_object)},
          {"groups", array_of(topic.groups, consumer_group_object)}};
}

std::string topic_lines(const topic_status& topic) {
  const auto& path = topic.path;
  const auto kept = total_of(topic.kept);
  auto text = tsv_line("topic", path, topic.shards, kept.batches, kept.messages, topic.groups.size());
  for (const auto& each : topic.kept) text += tsv_line("shard", path, each.shard, each.batches, each.messages);
  for (const auto& group : topic.groups) {
    const auto lag = total_of(group.behind);
    text += tsv_line("group", path, group.name, lag.messages, lag.batches, oldest_of(lag), group.behind.size(),
                     group.dead_letters);
    for (const auto& each : group.behind)
      text += tsv_line("lag", path, group.name, each.shard, each.messages, each.batches, each.oldest);
  }
  return text;
}

}  // namespace

table lag_table(const topic_status& topic) { return table_of(lag_columns(), topic.groups, lag_row); }

table shard_lag_table(const topic_status& topic, table_bounds bounds) {
  std::vector<column> columns{{"SHARD", 0, true}, {"BATCHES", 0, true}, {"MESSAGES", 0, true}};
  for (const auto& each : topic.groups) columns.push_back({each.name, 0, true});
  const auto row = [](const shard_row& each) {
    auto cells = row_of(each.kept.shard, each.kept.batches, each.kept.messages);
    for (const auto lag : each.lags) cells.push_back(cell_of(lag));
    return cells;
  };
  return table_of(std::move(columns), shard_rows(topic), row, bounds.rows);
}

std::string to_table(const known_topics& topics) {
  const bool is_any = topics && !topics->found.empty();
  return survey_table(topics, "topics", is_any ? printed(topic_table(topics->found)) : "");
}

std::string to_table(const topic_status& topic) {
  const auto kept = total_of(topic.kept);
  const auto heading = topic.path + ": " + std::to_string(topic.shards) + " shards, " + std::to_string(kept.batches) +
                       " batches, " + std::to_string(kept.messages) + " messages";
  return printable(heading) + "\n" + block(lag_table(topic)) + block(shard_lag_table(topic, for_print));
}

std::string to_json(const known_topics& topics) { return survey_json(topics, "topics", topic_object); }

std::string to_tsv(const known_topics& topics) { return survey_tsv(topics, "topics", topic_lines); }

}  // namespace zkadmin
