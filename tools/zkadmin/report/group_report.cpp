#include "report/group_report.hpp"

#include <algorithm>
#include <cstdio>

#include "base/text.hpp"
#include "problems/rules.hpp"
#include "report/formats.hpp"

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

namespace {

namespace json = boost::json;

json::array member_array(const group_status& group) {
  json::array all;
  for (const auto& each : group.members)
    all.push_back({{"id", well_formed(each.id)},
                   {"node", well_formed(each.node)},
                   {"state", state_of(each)},
                   {"capacity", plain_number(each.capacity)},
                   {"data", or_null(each.data)},
                   {"plan", each.plan},
                   {"owned", each.owned.size()},
                   {"moving", each.expected.size()},
                   {"owned_shards", ranges(each.owned)},
                   {"moving_shards", ranges(each.expected)}});
  return all;
}

json::array move_array(const group_status& group) {
  json::array all;
  for (const auto& each : group.moves)
    all.push_back({{"shard", each.shard},
                   {"from", or_null(each.from)},
                   {"from_gone", each.from_gone},
                   {"to", well_formed(each.to)},
                   {"phase", each.phase},
                   {"age_ms", or_null(each.age)}});
  return all;
}

json::array quarantine_array(const group_status& group) {
  json::array all;
  for (const auto& each : group.quarantined)
    all.push_back({{"shard", each.shard}, {"deaths", each.deaths}, {"last_owner", or_null(each.last_owner)}});
  return all;
}

json::array away_array(const group_status& group) {
  json::array all;
  for (const auto& each : group.away)
    all.push_back({{"id", well_formed(each.id)},
                   {"age_ms", or_null(each.age)},
                   {"grace_ms", each.grace.count()},
                   {"shards", ranges(each.shards)}});
  return all;
}

json::array pin_array(const group_status& group) {
  json::array all;
  for (const auto& each : group.pins)
    all.push_back(
        {{"shard", each.shard}, {"member", well_formed(each.member)}, {"assigned_to", or_null(each.assigned_to)}});
  return all;
}

json::array drained_array(const group_status& group) {
  json::array all;
  for (const auto& each : group.drained) all.push_back(json::value(well_formed(each)));
  return all;
}

json::object group_object(const group_status& group, const problem_limits& limits) {
  json::object object;
  object["path"] = well_formed(group.path);
  object["shards"] = group.shards;
  object["owned"] = owned_count(group);
  object["moving"] = group.moves.size();
  object["waiting"] = group.waiting.size();
  object["quarantined"] = group.quarantined.size();
  object["unassigned"] = group.unassigned.size();
  object["frozen"] = group.frozen;
  object["planner"] = or_null(group.planner);
  object["members"] = member_array(group);
  object["moves"] = move_array(group);
  object["quarantine"] = quarantine_array(group);
  object["away"] = away_array(group);
  object["pins"] = pin_array(group);
  object["drained"] = drained_array(group);
  object["unassigned_shards"] = ranges(group.unassigned);
  object["problem"] = or_null(text_of(problems_of(group, limits)));
  return object;
}

json::value group_array(const known_groups& groups, const problem_limits& limits) {
  if (!groups) return nullptr;
  json::array all;
  for (const auto& each : groups->found) all.push_back(group_object(each, limits));
  return all;
}

}  // namespace

std::string to_json(const known_groups& groups, const problem_limits& limits) {
  json::object document;
  document["schema"] = 1;
  document["complete"] = groups && groups->complete;
  document["groups"] = group_array(groups, limits);
  document["notes"] = groups ? note_array(groups->notes) : json::array();
  return json_line(document);
}

namespace {

std::string milliseconds_of(const std::optional<std::chrono::milliseconds>& value) {
  return value ? std::to_string(value->count()) : "";
}

std::string thousandths(double capacity) { return std::to_string(static_cast<std::int64_t>(capacity * 1000 + 0.5)); }

std::string group_line(const group_status& group, const problem_limits& limits) {
  return tsv_line({"group", group.path, std::to_string(group.shards), std::to_string(owned_count(group)),
                   std::to_string(group.moves.size()), std::to_string(group.waiting.size()),
                   std::to_string(group.quarantined.size()), std::to_string(group.unassigned.size()),
                   std::to_string(group.members.size()), std::to_string(group.away.size()), group.planner,
                   group.frozen ? "yes" : "no", text_of(problems_of(group, limits))});
}

std::string group_lines(const group_status& group, const problem_limits& limits) {
  std::string text = group_line(group, limits);
  for (const auto& each : group.members)
    text += tsv_line({"member", group.path, each.id, each.node, state_of(each), thousandths(each.capacity), each.data,
                      std::to_string(each.owned.size()), std::to_string(each.expected.size()), ranges(each.owned),
                      ranges(each.expected)});
  for (const auto& each : group.moves)
    text += tsv_line({"move", group.path, std::to_string(each.shard), each.from, each.from_gone ? "yes" : "no", each.to,
                      each.phase, milliseconds_of(each.age)});
  for (const auto& each : group.quarantined)
    text +=
        tsv_line({"quarantine", group.path, std::to_string(each.shard), std::to_string(each.deaths), each.last_owner});
  for (const auto& each : group.away)
    text += tsv_line({"away", group.path, each.id, milliseconds_of(each.age), std::to_string(each.grace.count()),
                      ranges(each.shards)});
  for (const auto& each : group.pins)
    text += tsv_line({"pin", group.path, std::to_string(each.shard), each.member, each.assigned_to});
  for (const auto& each : group.drained) text += tsv_line({"drained", group.path, each});
  return text;
}

}  // namespace

std::string to_tsv(const known_groups& groups, const problem_limits& limits) {
  if (!groups) return tsv_line({"groups", "unknown", ""});
  std::string text =
      tsv_line({"groups", groups->complete ? "complete" : "incomplete", std::to_string(groups->found.size())});
  for (const auto& each : groups->found) text += group_lines(each, limits);
  for (const auto& each : groups->notes) text += tsv_line({"note", each.path, each.text});
  return text;
}

}  // namespace zkadmin
