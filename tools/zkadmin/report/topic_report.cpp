#include "report/topic_report.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "report/formats.hpp"

namespace zkadmin {
namespace {

/// What each shard keeps, and the messages of it that each group has still to consume, in the order of the groups.
struct shard_row {
  topic_shard_status kept{};
  std::vector<std::uint64_t> lags{};

  std::uint64_t worst() const { return lags.empty() ? 0 : *std::max_element(lags.begin(), lags.end()); }
};

/// Those with the largest lag first, then those that keep the most.
std::vector<shard_row> shard_rows(const topic_status& topic) {
  std::map<std::uint32_t, shard_row> rows;
  const auto row_of = [&](std::uint32_t number) -> shard_row& {
    auto& row = rows[number];
    row.kept.shard = number;
    row.lags.resize(topic.groups.size());
    return row;
  };
  for (const auto& each : topic.kept) row_of(each.shard).kept = each;
  for (std::size_t i = 0; i < topic.groups.size(); ++i)
    for (const auto& each : topic.groups[i].behind) row_of(each.shard).lags[i] = each.messages;
  std::vector<shard_row> sorted;
  for (auto& [number, row] : rows) sorted.push_back(std::move(row));
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::pair(a.worst(), a.kept.messages) > std::pair(b.worst(), b.kept.messages);
  });
  return sorted;
}

table_row lag_row(const topic_group_status& group) {
  const auto lag = total_of(group.behind);
  return {{group.name},
          {std::to_string(lag.messages)},
          {lag.messages > 0 ? short_duration(lag.oldest) : "-"},
          {std::to_string(group.behind.size())},
          {std::to_string(group.dead_letters)}};
}

std::vector<column> lag_columns() {
  return {{"GROUP"}, {"LAG", 0, true}, {"OLDEST", 0, true}, {"SHARDS BEHIND", 0, true}, {"DEAD LETTERS", 0, true}};
}

/// A row for each group of a topic; the facts about the topic stand in the first one.
table topic_table(const std::vector<topic_status>& topics) {
  table content;
  content.columns = {{"TOPIC"}, {"SHARDS", 0, true}, {"BATCHES", 0, true}, {"MESSAGES", 0, true}};
  for (auto& each : lag_columns()) content.columns.push_back(std::move(each));
  for (const auto& each : topics) {
    const auto kept = total_of(each.kept);
    table_row row{
        {each.path}, {std::to_string(each.shards)}, {std::to_string(kept.batches)}, {std::to_string(kept.messages)}};
    if (each.groups.empty()) {
      row.push_back({"-"});
      content.rows.push_back(row);
    }
    for (const auto& group : each.groups) {
      for (auto& cell : lag_row(group)) row.push_back(std::move(cell));
      content.rows.push_back(std::exchange(row, {{}, {}, {}, {}}));
    }
  }
  return content;
}

std::string block(const table& content) { return content.rows.empty() ? "" : "\n" + printed(content); }

}  // namespace

table lag_table(const topic_status& topic) {
  table content;
  content.columns = lag_columns();
  for (const auto& each : topic.groups) content.rows.push_back(lag_row(each));
  return content;
}

table shard_lag_table(const topic_status& topic, table_bounds bounds) {
  table content;
  content.columns = {{"SHARD", 0, true}, {"BATCHES", 0, true}, {"MESSAGES", 0, true}};
  for (const auto& each : topic.groups) content.columns.push_back({each.name, 0, true});
  const auto rows = shard_rows(topic);
  for (std::size_t i = 0; i < std::min(rows.size(), bounds.rows); ++i) {
    const auto& kept = rows[i].kept;
    table_row row{{std::to_string(kept.shard)}, {std::to_string(kept.batches)}, {std::to_string(kept.messages)}};
    for (const auto each : rows[i].lags) row.push_back({std::to_string(each)});
    content.rows.push_back(std::move(row));
  }
  if (rows.size() > bounds.rows)
    content.rows.push_back({{"and " + std::to_string(rows.size() - bounds.rows) + " more"}});
  return content;
}

std::string to_table(const known_topics& topics) {
  if (!topics) return "Topics: not known.\n";
  std::string text = topics->found.empty() ? "" : printed(topic_table(topics->found));
  if (!topics->complete) return text + "There may be more topics than these.\n";
  return topics->found.empty() ? "No topics.\n" : text;
}

std::string to_table(const topic_status& topic) {
  const auto kept = total_of(topic.kept);
  const auto heading = topic.path + ": " + std::to_string(topic.shards) + " shards, " + std::to_string(kept.batches) +
                       " batches, " + std::to_string(kept.messages) + " messages";
  return printable(heading) + "\n" + block(lag_table(topic)) + block(shard_lag_table(topic, for_print));
}

namespace {

namespace json = boost::json;

json::array kept_array(const topic_status& topic) {
  json::array all;
  for (const auto& each : topic.kept)
    all.push_back({{"shard", each.shard}, {"batches", each.batches}, {"messages", each.messages}});
  return all;
}

json::array behind_array(const topic_group_status& group) {
  json::array all;
  for (const auto& each : group.behind)
    all.push_back({{"shard", each.shard},
                   {"batches", each.batches},
                   {"messages", each.messages},
                   {"oldest_ms", each.oldest.count()}});
  return all;
}

json::array consumer_group_array(const topic_status& topic) {
  json::array all;
  for (const auto& each : topic.groups) {
    const auto lag = total_of(each.behind);
    all.push_back({{"name", well_formed(each.name)},
                   {"lag", lag.messages},
                   {"lag_batches", lag.batches},
                   {"oldest_ms", lag.messages > 0 ? json::value(lag.oldest.count()) : json::value(nullptr)},
                   {"dead_letters", each.dead_letters},
                   {"behind", behind_array(each)}});
  }
  return all;
}

json::object topic_object(const topic_status& topic) {
  const auto kept = total_of(topic.kept);
  json::object object;
  object["path"] = well_formed(topic.path);
  object["shards"] = topic.shards;
  object["batches"] = kept.batches;
  object["messages"] = kept.messages;
  object["kept"] = kept_array(topic);
  object["groups"] = consumer_group_array(topic);
  return object;
}

json::value topic_array(const known_topics& topics) {
  if (!topics) return nullptr;
  json::array all;
  for (const auto& each : topics->found) all.push_back(topic_object(each));
  return all;
}

}  // namespace

std::string to_json(const known_topics& topics) {
  json::object document;
  document["schema"] = 1;
  document["complete"] = topics && topics->complete;
  document["topics"] = topic_array(topics);
  document["notes"] = topics ? note_array(topics->notes) : json::array();
  return json_line(document);
}

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
