#include "problems/group_rules.hpp"
#include "report/group_report.hpp"
#include "report/tsv.hpp"

namespace zkadmin {
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
