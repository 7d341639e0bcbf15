// The undecided transactions of two-phase commits.
#include "problems/commit_rules.hpp"
#include "screen/page_content.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

table_cell age_cell(const undecided_status& one, const problem_limits& limits) {
  return {short_duration(one.age), one.age > limits.transaction_limit ? look::bad : look::plain, one.age.count()};
}

}  // namespace

list_view commit_list_view(const model& state) {
  const auto add_rows = [&state](list_view& list, const commit_status& commit, const problem_list& problems) {
    const screen_place target{page::commits, commit.path};
    const look how = look_of(problems);
    if (commit.undecided.empty()) list.add({commit.path, target}, {{commit.path}, {"-"}, {"none undecided"}});
    for (const auto& each : commit.undecided)
      list.add({commit.path + ' ' + each.id, target}, {{commit.path, how}, age_cell(each, state.limits), {each.id}});
  };
  return list_of_survey(state, state.seen.commits,
                        {{"PATH", 0, false, 12, true}, {"FOR", 1, true}, {"TRANSACTION", 0, false, 12, true}},
                        add_rows);
}

void add_commit(sheet& to, const model& state, const std::string& path) {
  const auto* commit = find_by_path(state.seen.commits, path);
  if (!commit) return;
  to.add_subject("TWO-PHASE COMMIT", path, staleness(state));
  to.add_field("undecided", std::to_string(commit->undecided.size()));
  add_problems(to, problems_of(*commit, state.limits));
  table content;
  content.columns = {{"FOR", 0, true}, {"TRANSACTION"}};
  for (const auto& each : commit->undecided) content.rows.push_back({age_cell(each, state.limits), {each.id}});
  to.add_table(content);
}

}  // namespace zkadmin
