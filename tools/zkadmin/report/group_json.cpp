
#include "problems/group_rules.hpp"
#include "report/group_report.hpp"
#include "report/json_values.hpp"

namespace zkadmin {
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

}  // namespace zkadmin
