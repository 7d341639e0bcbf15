// The shard groups, and one of them with its members and shards.
#include "problems/group_rules.hpp"
#include "report/group_tables.hpp"
#include "screen/page_content.hpp"

namespace zkadmin {

list_view group_list_view(const model& state) {
  return list_of_survey(state, state.seen.groups, group_table({}).columns,
                        [](list_view& list, const group_status& group, const problem_list& problems) {
                          auto row = group_table({&group, 1}).rows.front();
                          row.front().look = look_of(problems);
                          list.add({group.path, screen_place{page::groups, group.path}}, std::move(row));
                        });
}

void add_group(sheet& to, const model& state, const std::string& path) {
  const auto* group = find_by_path(state.seen.groups, path);
  if (!group) return;
  to.add_subject("SHARD GROUP", path, staleness(state));
  to.add_field("shards", shard_summary(*group));
  to.add_field("planner", group->planner_unknown ? "not known" : group->planner.empty() ? "none" : group->planner);
  to.add_field("frozen", group->frozen ? "yes: no shard is taken from a member" : "no");
  if (!group->waiting.empty()) to.add_field("waiting", ranges(group->waiting));
  if (!group->unassigned.empty()) to.add_field("unassigned", ranges(group->unassigned));
  add_problems(to, problems_of(*group, state.limits));
  for (const auto& each : group_sections(*group, everything)) to.add_table(each);
}

}  // namespace zkadmin
