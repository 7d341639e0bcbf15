// The elections, and one of them with all that wait.
#include <algorithm>

#include "problems/election_rules.hpp"
#include "report/history_report.hpp"
#include "report/tables.hpp"
#include "screen/page_content.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

table_cell age_cell(const model& state, const election_status& election) {
  if (election.since == wall_time{}) return {"-"};
  const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(state.now - election.since);
  return {short_duration(age), look::plain, age.count()};
}

std::string since_text(const model& state, const election_status& election) {
  if (election.since == wall_time{}) return {};
  return " since " + time_of_day(state, election.since) + " (" + age_cell(state, election).text + ")";
}

std::string leader_text(const election_status& election) {
  if (!election.leader) return is_known(election) ? "none" : "-";
  const auto& leader = *election.leader;
  return label(leader) + "  token " + std::to_string(leader.token) + "  session " +
         hexadecimal(static_cast<std::uint64_t>(leader.session_id));
}

table waiter_table(const election_status& election) {
  table content;
  content.columns = {{"POS", 0, true}, {"WAITING"}, {"SESSION"}, {"TOKEN", 0, true}, {"NODE"}};
  for (const auto& each : election.waiters)
    content.rows.push_back({{std::to_string(each.position)},
                            {each.id},
                            {hexadecimal(static_cast<std::uint64_t>(each.session_id))},
                            {std::to_string(each.token)},
                            {each.node}});
  return content;
}

void add_activity(sheet& to, const election_status& election, const problem_limits& limits) {
  if (!has_activity(election)) return;
  if (!election.hand_over) return to.add_text(activity_line(election), look::warning);
  const auto line = hand_over_line(*election.hand_over);
  if (sheet::value_x + places(line) + margin > to.width())
    return to.add_field("hand-over", line, is_late(*election.hand_over, limits) ? look::bad : look::warning);
  to.add_line([hand_over = *election.hand_over, limits](grid& screen, int y) {
    screen.put(indent, y, "hand-over", look::dim);
    draw_hand_over(screen, sheet::value_x, y, hand_over, limits);
  });
}

/// The elections with the columns of the page or, without `is_whole`, of the overview.
list_view elections_with(const model& state, bool is_whole) {
  list_view list;
  const auto& seen = state.seen.elections;
  list.is_known = seen.has_value();
  const std::vector<election_status> none;
  const auto& elections = seen ? seen->elections : none;
  list.content = election_table(elections, state.limits);
  if (is_whole) {
    list.content.columns.insert(list.content.columns.begin() + 3, {"FOR", 2, true});
    list.content.columns.push_back({"ACTIVITY", 4, false, 20});
  }
  problem_list problems;
  std::size_t troubled = 0;
  for (std::size_t i = 0; i < elections.size(); ++i) {
    const auto& each = elections[i];
    list.keys.push_back({each.path, screen_place{page::elections, each.path}});
    const auto more = problems_of(each, state.limits);
    troubled += more.empty() ? 0 : 1;
    problems.insert(problems.end(), more.begin(), more.end());
    if (!is_whole) continue;
    auto& row = list.content.rows[i];
    row.insert(row.begin() + 3, age_cell(state, each));
    row.push_back({activity_line(each), look::warning});
  }
  list.remark = remark_on(state, problems, troubled, seen ? gaps_of(seen->notes, seen->complete) : "");
  return list;
}

}  // namespace

list_view election_list_view(const model& state) { return elections_with(state, true); }
list_view overview_list_view(const model& state) { return elections_with(state, false); }

void add_election(sheet& to, const model& state, const std::string& path) {
  const auto* election = find_election(state, path);
  if (!election) return;
  to.add_subject("ELECTION", path, staleness(state));
  to.add_field("epoch", std::to_string(election->epoch));
  to.add_field("phase", election->phase + since_text(state, *election));
  to.add_field("takeover", election->takeover.empty() ? "-" : election->takeover);
  to.add_field("leader", leader_text(*election));
  if (election->leader) to.add_field("node", election->leader->node);
  add_activity(to, *election, state.limits);
  add_problems(to, problems_of(*election, state.limits));
  to.add_table(waiter_table(*election));
  if (election->waiters.empty()) to.add_field("waiting", is_known(*election) ? "nobody" : "not known");
  to.add_table(history_table(*election, state.now));
}

}  // namespace zkadmin
