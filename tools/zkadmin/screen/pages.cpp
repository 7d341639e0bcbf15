// The page that the dashboard begins with: ensemble, elections, events.
#include "screen/pages.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "problems/ensemble_rules.hpp"
#include "problems/rules.hpp"
#include "report/status_report.hpp"
#include "screen/list_view.hpp"
#include "screen/page_content.hpp"
#include "terminal/table.hpp"

namespace zkadmin {

namespace {

/// "FROM orders-2  TO orders-1": the cells from this column on.
std::string record_text(const table& content, const table_row& row, std::size_t first) {
  std::string text;
  for (std::size_t i = first; i < row.size(); ++i) {
    if (row[i].text.empty() || row[i].text == "-") continue;
    text += (text.empty() ? "" : "  ") + content.columns[i].title + " " + row[i].text;
  }
  return text;
}

/// The first `count` columns.
table beginning_of(const table& content, std::size_t count) {
  table part{{content.columns.begin(), content.columns.begin() + static_cast<std::ptrdiff_t>(count)}, {}};
  for (const auto& row : content.rows)
    part.rows.emplace_back(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(std::min(count, row.size())));
  return part;
}

/// How many columns from the left fit.
std::size_t fitting_columns(const table& content, int width) {
  std::size_t count = content.columns.size();
  while (count > 0 && natural_width(beginning_of(content, count)) > width) --count;
  return count;
}

}  // namespace

void sheet::add(block lines) {
  length_ += lines.length;
  blocks_.push_back(std::move(lines));
}

void sheet::add_line(std::function<void(grid&, int)> draw) {
  add({1, [draw = std::move(draw)](grid& screen, std::size_t, int y) { draw(screen, y); }});
}

void sheet::add_heading(const std::string& title, const std::string& remark) {
  add_line([=](grid& screen, int y) { draw_heading(screen, y, title, remark, look::warning); });
}

void sheet::add_subject(const std::string& kind, const std::string& name, const std::string& remark) {
  const int room_of_name = room(margin) - places(kind) - 1;
  add_heading(kind + " " + cut_in_middle(name, room_of_name), remark);
  if (places(name) > room_of_name) add_field("name", name);
}

void sheet::add_field(const std::string& name, const std::string& value, look how) {
  // On a narrow screen the value begins on a line of its own.
  const bool is_beside = room(value_x) >= value_x;
  const int x = is_beside ? value_x : indent + 1;
  auto texts = std::make_shared<std::vector<std::string>>(wrapped(value, room(x)));
  const std::size_t above = is_beside ? 0 : 1;
  add({texts->size() + above, [=](grid& screen, std::size_t line, int y) {
         if (line == 0) screen.put(indent, y, name, look::dim, is_beside ? value_x - indent - 1 : -1);
         if (line >= above) screen.put(x, y, (*texts)[line - above], how);
       }});
}

void sheet::add_text(const std::string& text, look how) {
  auto texts = std::make_shared<std::vector<std::string>>(wrapped(text, room(indent)));
  add({texts->size(), [=](grid& screen, std::size_t line, int y) { screen.put(indent, y, (*texts)[line], how); }});
}

void sheet::add_record(const std::string& text, int x) {
  if (text.empty()) return;
  auto texts = std::make_shared<std::vector<std::string>>(wrapped(text, room(x)));
  add({texts->size(), [=](grid& screen, std::size_t line, int y) { screen.put(x, y, (*texts)[line]); }});
}

void sheet::add_table(const table& content) {
  if (content.rows.empty()) return;
  const auto fitting = fitting_columns(content, room(indent));
  const bool is_whole = fitting == content.columns.size();
  const auto shared = std::make_shared<table>(beginning_of(content, fitting));
  const auto columns = place_columns(*shared, indent, room(indent));
  if (fitting > 0) add_line([=](grid& screen, int y) { draw_titles(screen, y, *shared, columns); });
  const auto draw = [=](grid& screen, std::size_t row, int y) {
    draw_row(screen, y, *shared, shared->rows[row], columns);
  };
  if (is_whole) return add({content.rows.size(), draw});
  for (std::size_t i = 0; i < content.rows.size(); ++i) {
    if (fitting > 0) add_line([=](grid& screen, int y) { draw(screen, i, y); });
    add_record(record_text(content, content.rows[i], fitting), fitting > 0 ? indent + 4 : indent);
  }
}

void sheet::draw(grid& screen, std::size_t first, lines where) const {
  std::size_t begin = 0;
  for (const auto& each : blocks_) {
    for (std::size_t i = first > begin ? first - begin : 0; i < each.length; ++i) {
      const auto line = begin + i - first;
      if (line >= static_cast<std::size_t>(std::max(where.count, 0))) return;
      each.draw_line(screen, i, where.top + static_cast<int>(line));
    }
    begin += each.length;
  }
}

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

/// One line of the list of elections: a row, or the activity of its election.
struct list_line {
  std::size_t row;
  const election_status* activity;
};

std::vector<list_line> list_lines(const model& state, const list_view& list) {
  std::map<std::string_view, const election_status*> busy;
  if (state.seen.elections)
    for (const auto& each : state.seen.elections->found)
      if (has_activity(each)) busy[each.path] = &each;
  std::vector<list_line> all;
  for (std::size_t i = 0; i < list.keys.size(); ++i) {
    all.push_back({i, nullptr});
    if (const auto found = busy.find(list.keys[i].id); found != busy.end()) all.push_back({i, found->second});
  }
  return all;
}

std::size_t count_of_groups(const model& state) { return state.seen.groups ? state.seen.groups->found.size() : 0; }

/// A quarter of the screen at most.
int lines_of_groups(lines body, const model& state) {
  const auto groups = count_of_groups(state);
  return groups == 0 ? 0 : std::min(heading_lines + count_of(groups), std::max(body.count / 4, 3));
}

sections divide(lines body, const model& state, std::size_t election_lines) {
  if (body.count < least_for_all) return {{body.top, 0}, body, {body.top, 0}, {body.top, 0}};
  const int ensemble = std::min(heading_lines + count_of(state.seen.servers.size()), std::max(body.count / 3, 4));
  const int wanted = heading_lines + std::max(count_of(election_lines), 1);
  const int least_events = std::min(body.count / 4, max_events_wanted);
  const int groups = lines_of_groups(body, state);
  const int elections = std::min(wanted, body.count - ensemble - groups - least_events);
  const int events = body.count - ensemble - elections - groups;
  const int below = body.top + ensemble + elections;
  return {{body.top, ensemble}, {body.top + ensemble, elections}, {below, groups}, {below + groups, events}};
}

/// The servers to show in `room` lines: all in their order or, if they do not fit, those with a problem first.
std::vector<server_status> servers_to_show(const model& state, int room) {
  auto servers = state.seen.servers;
  if (count_of(servers.size()) <= room) return servers;
  const auto is_well = [&state](const auto& each) {
    return is_serving(each) && problems_of(each, state.seen.servers, state.limits).empty();
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
  if (const auto hidden = state.seen.servers.size() - servers.size(); hidden > 0)
    screen.put(indent, y, "and " + std::to_string(hidden) + " more", look::dim);
}

void draw_election_list(grid& screen, const model& state, lines where, const list_view& list,
                        const std::vector<list_line>& all) {
  const auto columns = place_columns(list.content, indent, screen.width() - indent - margin);
  const auto selected = state.lists[static_cast<std::size_t>(page::overview)].selected;
  const auto is_selected = [selected](const list_line& each) { return each.row == selected; };
  const auto after_selected = std::find_if(all.rbegin(), all.rend(), is_selected).base();
  const auto skipped = std::max<std::ptrdiff_t>(after_selected - all.begin() - where.count, 0);
  const std::span shown(all.begin() + skipped, all.end());
  for (std::size_t i = 0; i < shown.size() && static_cast<int>(i) < where.count; ++i) {
    const int y = where.top + static_cast<int>(i);
    const auto& each = shown[i];
    if (each.activity) {
      draw_activity(screen, indent + 2, y, *each.activity, state.limits);
      continue;
    }
    draw_row(screen, y, list.content, list.content.rows[each.row], columns);
    if (is_selected(each)) mark_selected(screen, y);
  }
}

void draw_elections(grid& screen, const model& state, lines where, const list_view& list,
                    const std::vector<list_line>& all) {
  const bool has_heading = where.count > heading_lines;
  if (has_heading) {
    draw_heading(screen, where.top, heading_of(state, page::overview, list, title_of(page::elections)),
                 list.remark.text, list.remark.look);
    const auto columns = place_columns(list.content, indent, screen.width() - indent - margin);
    draw_titles(screen, where.top + 1, list.content, columns);
    where = {where.top + heading_lines, where.count - heading_lines};
  }
  if (list.keys.empty() && where.count > 0) {
    const bool is_remark_due = !has_heading && !list.remark.text.empty();
    const auto text = is_remark_due ? list.remark.text : empty_text(state, list.is_known, list.total > 0);
    screen.put(indent, where.top, text, look::dim);
  }
  draw_election_list(screen, state, where, list, all);
}

/// Draws the groups, those with a problem first.
void draw_groups(grid& screen, const model& state, lines where) {
  if (where.count <= heading_lines) return;
  auto list = group_list_view(state);
  auto& rows = list.content.rows;
  const auto all = rows.size();
  rows.resize(std::min(all, static_cast<std::size_t>(where.count - heading_lines)));
  auto remark = list.remark;
  if (remark.text.empty()) remark.look = look::dim;
  if (rows.size() < all)
    remark.text += (remark.text.empty() ? "" : "; ") + std::to_string(all - rows.size()) + " not shown";
  draw_heading(screen, where.top, "SHARD GROUPS " + std::to_string(all), remark.text, remark.look);
  const auto columns = place_columns(list.content, indent, screen.width() - indent - margin);
  int y = where.top + 1;
  draw_titles(screen, y++, list.content, columns);
  for (const auto& row : rows) draw_row(screen, y++, list.content, row, columns);
}

void draw_events(grid& screen, const model& state, lines where) {
  if (where.count < 2) return;
  draw_heading(screen, where.top, "EVENTS", "", look::plain);
  int y = where.top + 1;
  for (const auto& each : state.events) {
    if (y == where.top + where.count) break;
    const int x = screen.put(indent, y, time_of_day(state, each.when), look::dim);
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

void draw_overview(grid& screen, const model& state, lines where, const list_view& elections) {
  const auto all = list_lines(state, elections);
  const sections parts = divide(where, state, all.size());
  draw_ensemble(screen, state, parts.ensemble);
  draw_elections(screen, state, parts.elections, elections, all);
  draw_groups(screen, state, parts.groups);
  draw_events(screen, state, parts.events);
}

// A page that is one list.

list_layout layout_of(lines where) noexcept {
  const bool has_heading = where.count > 2;
  const bool has_titles = where.count > 3;
  return {has_heading, has_titles, std::max(where.count - (has_heading ? 1 : 0) - (has_titles ? 1 : 0), 0)};
}

void mark_selected(grid& screen, int y) {
  screen.fill(margin, y, 1, U'▸');
  screen.mark_line(y, look::selected);
}

std::string empty_text(const model& state, bool is_known, bool is_filtered) {
  if (is_filtered) return "none that the filter selects; esc clears it";
  if (is_known) return "none";
  return state.seen.trouble.empty() ? "not known yet" : "not known";
}

void draw_list(grid& screen, const model& state, lines where, const list_view& list) {
  const auto& looked = state.lists[static_cast<std::size_t>(state.shown.which)];
  const auto layout = layout_of(where);
  int y = where.top;
  if (layout.has_heading)
    draw_heading(screen, y++, heading_of(state, state.shown.which, list, title_of(state.shown.which)), list.remark.text,
                 list.remark.look);
  const auto columns = place_columns(list.content, indent, screen.width() - indent - margin);
  if (layout.has_titles) draw_titles(screen, y++, list.content, columns);
  if (list.keys.empty() && layout.rows > 0)
    screen.put(indent, y, empty_text(state, list.is_known, list.total > 0), look::dim);
  const auto end = std::min(looked.top + static_cast<std::size_t>(layout.rows), list.keys.size());
  for (std::size_t i = looked.top; i < end; ++i, ++y) {
    draw_row(screen, y, list.content, list.content.rows[i], columns);
    if (i == looked.selected) mark_selected(screen, y);
  }
}

}  // namespace zkadmin
