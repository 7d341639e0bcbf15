#include <algorithm>
#include <cstdio>

#include "problems/group_rules.hpp"
#include "report/group_report.hpp"
#include "report/group_tables.hpp"
#include "report/printed.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

std::string dash_if_empty(const std::string& text) { return text.empty() ? "-" : text; }

std::string age_text(const std::optional<std::chrono::milliseconds>& age) { return age ? short_duration(*age) : "-"; }

/// "0-3,9,..." if there are more than fit.
std::string some_ranges(const shard_numbers& numbers, table_bounds bounds) {
  const auto text = ranges(numbers);
  if (text.size() <= bounds.ranges) return dash_if_empty(text);
  return text.substr(0, text.rfind(',', bounds.ranges - 3) + 1) + "...";
}

std::string capacity_text(double capacity) {
  char text[32];
  std::snprintf(text, sizeof text, "%.7g", capacity);
  return text;
}

std::string summary_of(const group_status& group) {
  std::string text = group.path + ": " + shard_summary(group) + "; planner " + dash_if_empty(group.planner);
  if (group.frozen) text += "; frozen";
  return printable(text) + "\n";
}

table member_table(const group_status& group, table_bounds bounds) {
  table content;
  content.columns = {{"MEMBER"}, {"STATE"}, {"CAPACITY", 0, true}, {"OWNED", 0, true}, {"MOVING", 0, true}, {"SHARDS"},
                     {"DATA"},   {"NODE"}};
  for (const auto& each : group.members)
    content.rows.push_back({{each.id},
                            {state_of(each)},
                            {capacity_text(each.capacity)},
                            {std::to_string(each.owned.size())},
                            {std::to_string(each.expected.size())},
                            {some_ranges(each.owned, bounds)},
                            {dash_if_empty(each.data)},
                            {each.node}});
  return content;
}

/// The oldest moves first.
table move_table(const group_status& group, table_bounds bounds) {
  auto moves = group.moves;
  std::stable_sort(moves.begin(), moves.end(), [](const auto& a, const auto& b) { return a.age > b.age; });
  table content;
  content.columns = {{"MOVING", 0, true}, {"FROM"}, {"TO"}, {"PHASE"}, {"FOR", 0, true}};
  for (std::size_t i = 0; i < std::min(moves.size(), bounds.rows); ++i)
    content.rows.push_back({{std::to_string(moves[i].shard)},
                            {dash_if_empty(moves[i].from) + (moves[i].from_gone ? " (gone)" : "")},
                            {moves[i].to},
                            {moves[i].phase},
                            {age_text(moves[i].age)}});
  if (moves.size() > bounds.rows)
    content.rows.push_back({{"and " + std::to_string(moves.size() - bounds.rows) + " more"}});
  return content;
}

table quarantine_table(const group_status& group) {
  table content;
  content.columns = {{"QUARANTINE", 0, true}, {"DEATHS", 0, true}, {"LAST OWNER"}};
  for (const auto& each : group.quarantined)
    content.rows.push_back(
        {{std::to_string(each.shard)}, {std::to_string(each.deaths)}, {dash_if_empty(each.last_owner)}});
  return content;
}

table away_table(const group_status& group, table_bounds bounds) {
  table content;
  content.columns = {{"AWAY"}, {"FOR", 0, true}, {"GRACE", 0, true}, {"SHARDS"}};
  for (const auto& each : group.away)
    content.rows.push_back(
        {{each.id}, {age_text(each.age)}, {short_duration(each.grace)}, {some_ranges(each.shards, bounds)}});
  return content;
}

table pin_table(const group_status& group, table_bounds bounds) {
  table content;
  content.columns = {{"PINNED", 0, true}, {"MEMBER"}, {"OWNER TO BE"}};
  for (std::size_t i = 0; i < std::min(group.pins.size(), bounds.rows); ++i) {
    const auto& each = group.pins[i];
    content.rows.push_back({{std::to_string(each.shard)}, {each.member}, {dash_if_empty(each.assigned_to)}});
  }
  if (group.pins.size() > bounds.rows)
    content.rows.push_back({{"and " + std::to_string(group.pins.size() - bounds.rows) + " more"}});
  return content;
}

/// Those that are there are seen among the members.
table drained_table(const group_status& group) {
  table content;
  content.columns = {{"DRAINED"}, {"STATE"}};
  for (const auto& id : group.drained) {
    const bool is_there =
        std::any_of(group.members.begin(), group.members.end(), [&](const auto& each) { return each.id == id; });
    if (!is_there) content.rows.push_back({{id}, {"not there"}});
  }
  return content;
}

std::string section(const table& content) { return content.rows.empty() ? "" : "\n" + printed(content); }

}  // namespace

std::string shard_summary(const group_status& group) {
  std::string text = std::to_string(group.shards) + " shards, " + std::to_string(owned_count(group)) + " owned";
  const auto add = [&text](std::size_t count, const char* what) {
    if (count > 0) text += ", " + std::to_string(count) + what;
  };
  add(group.moves.size(), " moving");
  add(group.waiting.size(), " waiting");
  add(group.quarantined.size(), " in quarantine");
  add(group.unassigned.size(), " unassigned");
  return text;
}

std::vector<table> group_sections(const group_status& group, table_bounds bounds) {
  return {member_table(group, bounds), move_table(group, bounds), quarantine_table(group),
          away_table(group, bounds),   pin_table(group, bounds),  drained_table(group)};
}

table group_table(std::span<const group_status> groups) {
  table content;
  content.columns = {{"GROUP", 0, false, 20, true},
                     {"SHARDS", 1, true},
                     {"OWNED", 0, true},
                     {"MOVING", 0, true},
                     {"WAITING", 3, true},
                     {"UNASSIGNED", 2, true},
                     {"QUARANTINE", 1, true},
                     {"MEMBERS", 0, true},
                     {"AWAY", 3, true},
                     {"PLANNER", 2},
                     {"FROZEN", 2}};
  for (const auto& each : groups) {
    const bool has_quarantine = !each.quarantined.empty();
    content.rows.push_back({{each.path},
                            {std::to_string(each.shards)},
                            {std::to_string(owned_count(each))},
                            {std::to_string(each.moves.size())},
                            {std::to_string(each.waiting.size())},
                            {std::to_string(each.unassigned.size())},
                            {std::to_string(each.quarantined.size()), has_quarantine ? look::bad : look::plain},
                            {std::to_string(each.members.size())},
                            {std::to_string(each.away.size())},
                            {dash_if_empty(each.planner)},
                            {each.frozen ? "frozen" : "-"}});
  }
  return content;
}

std::string to_table(const known_groups& groups) {
  if (!groups) return "Shard groups: not known.\n";
  std::string text = groups->found.empty() ? "" : printed(group_table(groups->found));
  if (!groups->complete) return text + "There may be more shard groups than these.\n";
  return groups->found.empty() ? "No shard groups.\n" : text;
}

std::string to_table(const group_status& group, const problem_limits& limits) {
  const auto problem = text_of(problems_of(group, limits));
  std::string text = summary_of(group) + (problem.empty() ? "" : "problem: " + problem + "\n");
  for (const auto& each : group_sections(group, for_print)) text += section(each);
  return text;
}

}  // namespace zkadmin
