#include "report/group_report.hpp"

#include <algorithm>
#include <cstdio>

#include "base/text.hpp"
#include "problems/rules.hpp"
#include "problems/verdict.hpp"
#include "report/formats.hpp"

namespace zkadmin {
namespace {

namespace json = boost::json;

/// "0-3,9,..." if there are more than fit.
std::string some_ranges(const shard_numbers& numbers, table_bounds bounds) {
  const auto text = ranges(numbers);
  if (text.size() <= bounds.ranges) return or_dash(text);
  return text.substr(0, text.rfind(',', bounds.ranges - 3) + 1) + "...";
}

std::string capacity_text(double capacity) {
  char text[32];
  std::snprintf(text, sizeof text, "%.7g", capacity);
  return text;
}

std::string summary_of(const group_status& group) {
  std::string text = group.path + ": " + shard_summary(group) + "; planner " + or_dash(group.planner);
  if (group.frozen) text += "; frozen";
  return printable(text) + "\n";
}

table member_table(const group_status& group, table_bounds bounds) {
  return table_of({{"MEMBER"},
                   {"STATE"},
                   {"CAPACITY", 0, true},
                   {"OWNED", 0, true},
                   {"MOVING", 0, true},
                   {"SHARDS"},
                   {"DATA"},
                   {"NODE"}},
                  group.members, [bounds](const group_member_status& each) {
                    return row_of(each.id, state_of(each), capacity_text(each.capacity), each.owned.size(),
                                  each.expected.size(), some_ranges(each.owned, bounds), or_dash(each.data), each.node);
                  });
}

/// The oldest moves first.
table move_table(const group_status& group, table_bounds bounds) {
  auto moves = group.moves;
  std::stable_sort(moves.begin(), moves.end(), [](const auto& a, const auto& b) { return a.age > b.age; });
  const auto row = [](const shard_move_status& each) {
    return row_of(each.shard, or_dash(each.from) + (each.from_gone ? " (gone)" : ""), each.to, each.phase, each.age);
  };
  return table_of({{"MOVING", 0, true}, {"FROM"}, {"TO"}, {"PHASE"}, {"FOR", 0, true}}, moves, row, bounds.rows);
}

table quarantine_table(const group_status& group) {
  return table_of({{"QUARANTINE", 0, true}, {"DEATHS", 0, true}, {"LAST OWNER"}}, group.quarantined,
                  [](const auto& each) { return row_of(each.shard, each.deaths, or_dash(each.last_owner)); });
}

table away_table(const group_status& group, table_bounds bounds) {
  const auto row = [bounds](const absent_member_status& each) {
    return row_of(each.id, each.age, each.grace, some_ranges(each.shards, bounds));
  };
  return table_of({{"AWAY"}, {"FOR", 0, true}, {"GRACE", 0, true}, {"SHARDS"}}, group.away, row);
}

table pin_table(const group_status& group, table_bounds bounds) {
  const auto row = [](const auto& each) { return row_of(each.shard, each.member, or_dash(each.assigned_to)); };
  return table_of({{"PINNED", 0, true}, {"MEMBER"}, {"OWNER TO BE"}}, group.pins, row, bounds.rows);
}

/// Those that are there are seen among the members.
table drained_table(const group_status& group) {
  auto absent = group.drained;
  std::erase_if(absent, [&group](const auto& id) {
    return std::any_of(group.members.begin(), group.members.end(), [&](const auto& each) { return each.id == id; });
  });
  return table_of({{"DRAINED"}, {"STATE"}}, absent, [](const auto& id) { return row_of(id, "not there"); });
}

json::array member_array(const group_status& group) {
  return array_of(group.members, [](const group_member_status& each) {
    return json::object{{"id", well_formed(each.id)},
                        {"node", well_formed(each.node)},
                        {"state", state_of(each)},
                        {"capacity", plain_number(each.capacity)},
                        {"data", or_null(each.data)},
                        {"plan", each.plan},
                        {"owned", each.owned.size()},
                        {"moving", each.expected.size()},
                        {"owned_shards", ranges(each.owned)},
                        {"moving_shards", ranges(each.expected)}};
  });
}

json::array move_array(const group_status& group) {
  return array_of(group.moves, [](const shard_move_status& each) {
    return json::object{{"shard", each.shard},        {"from", or_null(each.from)}, {"from_gone", each.from_gone},
                        {"to", well_formed(each.to)}, {"phase", each.phase},        {"age_ms", or_null(each.age)}};
  });
}

json::array quarantine_array(const group_status& group) {
  return array_of(group.quarantined, [](const auto& each) {
    return json::object{{"shard", each.shard}, {"deaths", each.deaths}, {"last_owner", or_null(each.last_owner)}};
  });
}

json::array away_array(const group_status& group) {
  return array_of(group.away, [](const absent_member_status& each) {
    return json::object{{"id", well_formed(each.id)},
                        {"age_ms", or_null(each.age)},
                        {"grace_ms", each.grace.count()},
                        {"shards", ranges(each.shards)}};
  });
}

json::array pin_array(const group_status& group) {
  return array_of(group.pins, [](const pinned_shard& each) {
    return json::object{
        {"shard", each.shard}, {"member", well_formed(each.member)}, {"assigned_to", or_null(each.assigned_to)}};
  });
}

json::object group_object(const group_status& group, const problem_limits& limits) {
  return {{"path", well_formed(group.path)},
          {"shards", group.shards},
          {"owned", owned_count(group)},
          {"moving", group.moves.size()},
          {"waiting", group.waiting.size()},
          {"quarantined", group.quarantined.size()},
          {"unassigned", group.unassigned.size()},
          {"frozen", group.frozen},
          {"planner", or_null(group.planner)},
          {"members", member_array(group)},
          {"moves", move_array(group)},
          {"quarantine", quarantine_array(group)},
          {"away", away_array(group)},
          {"pins", pin_array(group)},
          {"drained", text_array(group.drained)},
          {"unassigned_shards", ranges(group.unassigned)},
          {"problem", or_null(text_of(problems_of(group, limits)))}};
}

std::int64_t thousandths(double capacity) { return static_cast<std::int64_t>(capacity * 1000 + 0.5); }

std::string group_lines(const group_status& group, const problem_limits& limits) {
  const auto& path = group.path;
  auto text = tsv_line("group", path, group.shards, owned_count(group), group.moves.size(), group.waiting.size(),
                       group.quarantined.size(), group.unassigned.size(), group.members.size(), group.away.size(),
                       group.planner, group.frozen, text_of(problems_of(group, limits)));
  for (const auto& each : group.members)
    text += tsv_line("member", path, each.id, each.node, state_of(each), thousandths(each.capacity), each.data,
                     each.owned.size(), each.expected.size(), ranges(each.owned), ranges(each.expected));
  for (const auto& each : group.moves)
    text += tsv_line("move", path, each.shard, each.from, each.from_gone, each.to, each.phase, each.age);
  for (const auto& each : group.quarantined)
    text += tsv_line("quarantine", path, each.shard, each.deaths, each.last_owner);
  for (const auto& each : group.away)
    text += tsv_line("away", path, each.id, each.age, each.grace, ranges(each.shards));
  for (const auto& each : group.pins) text += tsv_line("pin", path, each.shard, each.member, each.assigned_to);
  for (const auto& each : group.drained) text += tsv_line("drained", path, each);
  return text;
}

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
  return table_of({{"GROUP", 0, false, 20, true},
                   {"SHARDS", 1, true},
                   {"OWNED", 0, true},
                   {"MOVING", 0, true},
                   {"WAITING", 3, true},
                   {"UNASSIGNED", 2, true},
                   {"QUARANTINE", 1, true},
                   {"MEMBERS", 0, true},
                   {"AWAY", 3, true},
                   {"PLANNER", 2},
                   {"FROZEN", 2}},
                  groups, [](const group_status& each) {
                    auto quarantine = cell_of(each.quarantined.size());
                    if (!each.quarantined.empty()) quarantine.look = look::bad;
                    return row_of(each.path, each.shards, owned_count(each), each.moves.size(), each.waiting.size(),
                                  each.unassigned.size(), quarantine, each.members.size(), each.away.size(),
                                  or_dash(each.planner), each.frozen ? "frozen" : "-");
                  });
}

std::string to_table(const known_groups& groups, const problem_limits& limits) {
  const bool is_any = groups && !groups->found.empty();
  const auto lines = [&](std::size_t i) { return problem_lines(problems_of(groups->found[i], limits)); };
  return survey_table(groups, "shard groups", is_any ? printed(with_lines(group_table(groups->found), lines)) : "");
}

std::string to_table(const group_status& group, const problem_limits& limits) {
  const auto problem = text_of(problems_of(group, limits));
  std::string text = summary_of(group) + (problem.empty() ? "" : "problem: " + problem + "\n");
  for (const auto& each : group_sections(group, for_print)) text += block(each);
  return text;
}

std::string to_json(const known_groups& groups, const problem_limits& limits) {
  return survey_json(groups, "groups", [&limits](const auto& each) { return group_object(each, limits); });
}

std::string to_tsv(const known_groups& groups, const problem_limits& limits) {
  return survey_tsv(groups, "groups", [&limits](const auto& each) { return group_lines(each, limits); });
}

}  // namespace zkadmin
