// The page that the dashboard begins with: ensemble, elections, events.
#include <algorithm>
#include <span>

#include "problems/election_rules.hpp"
#include "problems/ensemble_rules.hpp"
#include "problems/group_rules.hpp"
#include "problems/order.hpp"
#include "report/group_tables.hpp"
#include "report/tables.hpp"
#include "screen/pages.hpp"
#include "screen/table.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

constexpr int heading_lines = 2;  // The title of a section and the titles of its columns.
constexpr int bar_width = 20;
constexpr int least_for_all = 10;  // If there are fewer lines than this, only the elections are shown.
constexpr int max_events_wanted = 8;

struct sections {
  lines ensemble;
  lines elections;
  lines groups;
  lines events;
};

int count_of(std::size_t size) { return static_cast<int>(std::min<std::size_t>(size, 100'000)); }

/// One line of the list of elections: an election, or its activity.
struct list_line {
  std::size_t election;
  bool is_activity;
};

std::vector<list_line> list_lines(const std::vector<election_status>& elections) {
  std::vector<list_line> list;
  for (std::size_t i = 0; i < elections.size(); ++i) {
    list.push_back({i, false});
    if (has_activity(elections[i])) list.push_back({i, true});
  }
  return list;
}

/// A quarter of the screen at most.
int lines_of_groups(lines body, const model& state) {
  return state.groups.empty() ? 0
                              : std::min(heading_lines + count_of(state.groups.size()), std::max(body.count / 4, 3));
}

sections divide(lines body, const model& state) {
  if (body.count < least_for_all) return {{body.top, 0}, body, {body.top, 0}, {body.top, 0}};
  const int ensemble = std::min(heading_lines + count_of(state.servers.size()), std::max(body.count / 3, 4));
  const int wanted = heading_lines + std::max(count_of(list_lines(state.survey.elections).size()), 1);
  const int least_events = std::min(body.count / 4, max_events_wanted);
  const int groups = lines_of_groups(body, state);
  const int elections = std::min(wanted, body.count - ensemble - groups - least_events);
  const int events = body.count - ensemble - elections - groups;
  const int below = body.top + ensemble + elections;
  return {{body.top, ensemble}, {body.top + ensemble, elections}, {below, groups}, {below + groups, events}};
}

/// The servers to show in `room` lines: all in their order or, if they do not fit, those with a problem first.
std::vector<server_status> servers_to_show(const model& state, int room) {
  auto servers = state.servers;
  if (count_of(servers.size()) <= room) return servers;
  const auto is_well = [&state](const auto& each) {
    return is_serving(each) && problems_of(each, state.servers, state.limits).empty();
  };
  std::stable_partition(servers.begin(), servers.end(), [&](const auto& each) { return !is_well(each); });
  servers.resize(static_cast<std::size_t>(std::max(room - 1, 0)));
  return servers;
}

void draw_ensemble(grid& screen, const model& state, lines where) {
  if (where.count < heading_lines) return;
  draw_heading(screen, where.top, "ENSEMBLE", "", look::plain);
  const auto servers = servers_to_show(state, where.count - heading_lines);
  const table content = ensemble_table(servers, state.limits);
  const auto columns = place_columns(content, indent, screen.width() - indent - margin);
  int y = where.top + 1;
  draw_titles(screen, y++, content, columns);
  for (const auto& row : content.rows) draw_row(screen, y++, content, row, columns);
  if (const auto hidden = state.servers.size() - servers.size(); hidden > 0)
    screen.put(indent, y, "and " + std::to_string(hidden) + " more", look::dim);
}

void draw_election_list(grid& screen, const model& state, lines where, const table& content) {
  const auto& elections = state.survey.elections;
  const auto columns = place_columns(content, indent, screen.width() - indent - margin);
  const auto list = list_lines(elections);
  const auto is_selected = [&state](const list_line& each) { return each.election == state.selected; };
  const auto after_selected = std::find_if(list.rbegin(), list.rend(), is_selected).base();
  const auto skipped = std::max<std::ptrdiff_t>(after_selected - list.begin() - where.count, 0);
  const std::span shown(list.begin() + skipped, list.end());
  for (std::size_t i = 0; i < shown.size() && static_cast<int>(i) < where.count; ++i) {
    const int y = where.top + static_cast<int>(i);
    const auto& each = shown[i];
    if (each.is_activity) {
      draw_activity(screen, indent + 2, y, elections[each.election], state.limits);
      continue;
    }
    draw_row(screen, y, content, content.rows[each.election], columns);
    if (!is_selected(each)) continue;
    screen.fill(margin, y, 1, U'▸');
    screen.mark_line(y, look::selected);
  }
}

/// How many recipes have a problem, and how many of them a critical one.
struct problem_marks {
  std::size_t any = 0;
  std::size_t critical = 0;
};

template <class Status>
problem_marks count_problems(const std::vector<Status>& all, const problem_limits& limits) {
  problem_marks marks;
  for (const auto& each : all) {
    const auto found = problems_of(each, limits);
    marks.any += found.empty() ? 0 : 1;
    marks.critical += is_critical(found) ? 1 : 0;
  }
  return marks;
}

/// The remarks about all elections together, the most serious first.
table_cell remark_on(const model& state) {
  const auto& survey = state.survey;
  const auto marks = count_problems(survey.elections, state.limits);
  std::string text = staleness(state);
  const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  if (marks.any > 0) add(std::to_string(marks.any) + " with a problem");
  if (!survey.notes.empty()) add(to_string(survey.notes.front()));
  if (survey.notes.size() > 1) add(std::to_string(survey.notes.size() - 1) + " more notes");
  return {text, marks.critical > 0 ? look::bad : look::warning};
}

void draw_elections(grid& screen, const model& state, lines where) {
  if (where.count == 0) return;
  const auto& elections = state.survey.elections;
  const table content = election_table(elections, state.limits);
  const bool has_heading = where.count > heading_lines;
  const bool is_known = state.surveyed_at != wall_time{};
  const table_cell remark = remark_on(state);
  if (has_heading) {
    const std::string count = is_known ? " " + std::to_string(elections.size()) : "";
    draw_heading(screen, where.top, "ELECTIONS" + count, remark.text, remark.look);
    draw_titles(screen, where.top + 1, content, place_columns(content, indent, screen.width() - indent - margin));
    where = {where.top + heading_lines, where.count - heading_lines};
  }
  if (elections.empty()) {
    const bool is_remark_due = !has_heading && !remark.text.empty();
    screen.put(indent, where.top, is_remark_due ? remark.text : is_known ? "none" : "not known yet", look::dim);
  } else {
    draw_election_list(screen, state, where, content);
  }
}

/// Those with a problem first.
void draw_groups(grid& screen, const model& state, lines where) {
  if (where.count <= heading_lines) return;
  auto groups = state.groups;
  put_problems_first(groups, state.limits);
  const auto marks = count_problems(groups, state.limits);
  const auto room = static_cast<std::size_t>(where.count - heading_lines);
  const auto hidden = groups.size() - std::min(groups.size(), room);
  std::string remark = marks.any > 0 ? std::to_string(marks.any) + " with a problem" : "";
  if (hidden > 0) remark += (remark.empty() ? "" : "; ") + std::to_string(hidden) + " not shown";
  draw_heading(screen, where.top, "SHARD GROUPS " + std::to_string(groups.size()), remark,
               marks.critical > 0 ? look::bad
               : marks.any > 0    ? look::warning
                                  : look::dim);
  groups.resize(groups.size() - hidden);
  const table content = group_table(groups);
  const auto columns = place_columns(content, indent, screen.width() - indent - margin);
  int y = where.top + 1;
  draw_titles(screen, y++, content, columns);
  for (const auto& row : content.rows) draw_row(screen, y++, content, row, columns);
}

void draw_events(grid& screen, const model& state, lines where, const view_options& options) {
  if (where.count < 2) return;
  draw_heading(screen, where.top, "EVENTS", "", look::plain);
  int y = where.top + 1;
  for (const auto& each : state.events) {
    if (y == where.top + where.count) break;
    const int x = screen.put(indent, y, time_of_day(each.when, options), look::dim);
    screen.put(x + 2, y++, each.text, each.look);
  }
}

}  // namespace

void draw_heading(grid& screen, int y, const std::string& title, const std::string& remark, look remark_look) {
  int x = screen.put(margin, y, title, look::heading) + 1;
  const int room = screen.width() - margin - x - 4;
  const int remark_places = remark.empty() ? 0 : std::min(places(remark), std::max(room, 0)) + 1;
  x = screen.fill(x, y, screen.width() - margin - x - remark_places, U'─', look::dim);
  if (remark_places > 1) screen.put(x + 1, y, remark, remark_look, remark_places - 1);
}

void draw_hand_over(grid& screen, int x, int y, const hand_over_status& hand_over, const problem_limits& limits) {
  const look how = is_late(hand_over, limits) ? look::bad : look::warning;
  x = screen.put(x, y, hand_over_line(hand_over), how) + 2;
  if (hand_over.deadline.count() <= 0 || x + bar_width + 2 > screen.width()) return;
  const auto elapsed = std::clamp<long long>(hand_over.elapsed.count(), 0, hand_over.deadline.count());
  const int full = static_cast<int>(elapsed * bar_width / hand_over.deadline.count());
  x = screen.put(x, y, "[", how);
  x = screen.fill(x, y, full, U'█', how);
  x = screen.fill(x, y, bar_width - full, U'░', how);
  screen.put(x, y, "]", how);
}

bool has_activity(const election_status& election) { return !activity_line(election).empty(); }

void draw_activity(grid& screen, int x, int y, const election_status& election, const problem_limits& limits) {
  if (election.hand_over) {
    draw_hand_over(screen, x, y, *election.hand_over, limits);
  } else {
    screen.put(x, y, activity_line(election), look::warning);
  }
}

void draw_overview(grid& screen, const model& state, lines where, const view_options& options) {
  const sections parts = divide(where, state);
  draw_ensemble(screen, state, parts.ensemble);
  draw_elections(screen, state, parts.elections);
  draw_groups(screen, state, parts.groups);
  draw_events(screen, state, parts.events, options);
}

}  // namespace zkadmin
