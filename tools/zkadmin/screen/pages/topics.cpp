// The topics with the lag of each group of consumers, and one of them with its shards.
#include "problems/topic_rules.hpp"
#include "report/topic_tables.hpp"
#include "screen/page_content.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

table_row row_of(const topic_status& topic, const topic_group_status* group, look how) {
  const auto lag = group ? total_of(group->behind) : topic_shard_status{};
  const bool is_behind = lag.messages > 0;
  return {{topic.path, how},
          {group ? group->name : "-"},
          {group ? std::to_string(lag.messages) : "-"},
          {is_behind ? short_duration(lag.oldest) : "-", look::plain,
           is_behind ? std::optional(lag.oldest.count()) : std::nullopt},
          {group ? std::to_string(group->behind.size()) : "-"},
          {group ? std::to_string(group->dead_letters) : "-"},
          {std::to_string(total_of(topic.kept).messages)},
          {std::to_string(topic.shards)}};
}

void add_rows(list_view& list, const topic_status& topic, const problem_list& problems) {
  const screen_place target{page::topics, topic.path};
  if (topic.groups.empty()) list.add({topic.path, target}, row_of(topic, nullptr, look_of(problems)));
  for (const auto& each : topic.groups)
    list.add({topic.path + ' ' + each.name, target}, row_of(topic, &each, look_of(problems)));
}

}  // namespace

list_view topic_list_view(const model& state) {
  return list_of_survey(state, state.seen.topics,
                        {{"TOPIC", 0, false, 16, true},
                         {"GROUP", 0, false, 8, true},
                         {"LAG", 0, true},
                         {"OLDEST", 1, true},
                         {"SHARDS BEHIND", 3, true},
                         {"LETTERS", 2, true},
                         {"KEPT", 4, true},
                         {"SHARDS", 5, true}},
                        add_rows);
}

void add_topic(sheet& to, const model& state, const std::string& path) {
  const auto* topic = find_by_path(state.seen.topics, path);
  if (!topic) return;
  const auto kept = total_of(topic->kept);
  to.add_subject("TOPIC", path, staleness(state));
  to.add_field("shards", std::to_string(topic->shards));
  to.add_field("kept", std::to_string(kept.messages) + " messages in " + std::to_string(kept.batches) + " batches");
  add_problems(to, problems_of(*topic, state.limits));
  to.add_table(lag_table(*topic));
  if (topic->groups.empty()) to.add_field("groups", "none");
  to.add_table(shard_lag_table(*topic, everything));
}

}  // namespace zkadmin
