#include "report/message_report.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "base/text.hpp"
#include "report/formats.hpp"

namespace zkadmin {

namespace {

namespace json = boost::json;
using std::chrono::milliseconds;
using wall_time = std::chrono::system_clock::time_point;

constexpr std::size_t longest_cell = 60;     // of a table
constexpr std::size_t longest_value = 500;   // for programs
constexpr std::size_t longest_text = 1'000;  // for programs: those of this library are not longer

/// Never negative, although the clocks of the servers and ours may differ.
milliseconds age_of(const letter_status& each, wall_time now) {
  const auto since = milliseconds(each.letter.since);
  return std::max(std::chrono::duration_cast<milliseconds>(now.time_since_epoch()) - since, milliseconds(0));
}

std::string key_of(const letter_status& each) { return each.letter.key + (each.is_parked ? " (parked)" : ""); }

/// The first bytes of the data, and how much of the message the letter does not have.
std::string data_of(const letter_status& each) {
  auto shown = shortened(each.letter.data, longest_cell);
  if (each.letter.missing_bytes == 0) return or_dash(shown);
  if (!shown.empty()) shown += ' ';
  return shown + "(" + std::to_string(each.letter.missing_bytes) + " bytes missing)";
}

std::string heading_of(const letter_list& letters) {
  const auto count = letters.letters.size() + letters.not_read;
  auto text = printable(letters.path) + (letters.group.empty() ? "" : ", group " + printable(letters.group)) + ": ";
  text += counted(count, "dead letter");
  if (letters.foreign > 0) text += ", " + std::to_string(letters.foreign) + " nodes that are none";
  return text + "\n";
}

std::string letters_as_table(const letter_list& letters, wall_time now) {
  if (letters.letters.empty()) return heading_of(letters);
  const auto row = [now](const letter_status& each) {
    return row_of(each.letter.name, each.letter.item, each.letter.attempts, age_of(each, now),
                  or_dash(shortened(key_of(each), longest_cell)), or_dash(shortened(each.letter.reason, longest_cell)),
                  data_of(each));
  };
  const auto content =
      table_of({{"LETTER"}, {"ITEM"}, {"ATTEMPTS", 0, true}, {"FOR", 0, true}, {"KEY"}, {"REASON"}, {"DATA"}},
               letters.letters, row);
  return heading_of(letters) + "\n" + printed(content);
}

std::string letters_as_json(const letter_list& letters, wall_time now) {
  json::array all;
  for (const auto& each : letters.letters)
    all.push_back(json::object{{"letter", well_formed(each.letter.name)},
                               {"item", well_formed(shortened(each.letter.item, longest_text))},
                               {"attempts", each.letter.attempts},
                               {"age_ms", age_of(each, now).count()},
                               {"key", or_null(shortened(each.letter.key, longest_text))},
                               {"parked", each.is_parked},
                               {"reason", or_null(shortened(each.letter.reason, longest_text))},
                               {"data", or_null(shortened(each.letter.data, longest_value))},
                               {"data_length", each.letter.data.size()},
                               {"missing_bytes", each.letter.missing_bytes}});
  const json::object document{{"schema", 1},
                              {"path", well_formed(letters.path)},
                              {"group", or_null(letters.group)},
                              {"complete", letters.not_read == 0},
                              {"not_read", letters.not_read},
                              {"foreign_nodes", letters.foreign},
                              {"letters", std::move(all)}};
  return json_line(document);
}

std::string letters_as_tsv(const letter_list& letters, wall_time now) {
  auto text = tsv_line("letters", letters.path, letters.group, letters.not_read == 0 ? "complete" : "incomplete",
                       letters.letters.size(), letters.not_read, letters.foreign);
  for (const auto& each : letters.letters)
    text += tsv_line("letter", each.letter.name, shortened(each.letter.item, longest_text), each.letter.attempts,
                     age_of(each, now).count(), shortened(each.letter.key, longest_text), each.is_parked,
                     shortened(each.letter.reason, longest_text), shortened(each.letter.data, longest_value),
                     each.letter.data.size(), each.letter.missing_bytes);
  return text;
}

}  // namespace

std::string formatted_letters(const letter_list& letters, output_format format, wall_time now) {
  return in_format(
      format, [&] { return letters_as_table(letters, now); }, [&] { return letters_as_json(letters, now); },
      [&] { return letters_as_tsv(letters, now); });
}

namespace {

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
