// The page about one election, and the help page.
#include <algorithm>
#include <iterator>

#include "problems/election_rules.hpp"
#include "report/history_report.hpp"
#include "screen/pages.hpp"
#include "screen/table.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

constexpr int value_x = 14;
constexpr std::size_t fact_lines =
    6;  // Heading, four facts, titles of the waiters; an activity and each problem add a line.

void draw_field(grid& screen, int y, const char* name, const std::string& value) {
  screen.put(indent, y, name, look::dim);
  screen.put(value_x, y, value);
}

std::string since_text(const model& state, const election_status& election, const view_options& options) {
  if (election.since == wall_time{}) return {};
  const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(state.now - election.since);
  return " since " + time_of_day(election.since, options) + " (" + short_duration(age) + ")";
}

std::string leader_text(const election_status& election) {
  if (!election.leader) return is_known(election) ? "none" : "-";
  const auto& leader = *election.leader;
  return label(leader) + "  token " + std::to_string(leader.token) + "  session " +
         hexadecimal(static_cast<std::uint64_t>(leader.session_id));
}

table waiter_table(const election_status& election) {
  table content;
  content.columns = {{"POS", 0, true}, {"WAITING"}, {"SESSION", 1}, {"NODE", 2}};
  for (const auto& each : election.waiters) {
    const auto session = static_cast<std::uint64_t>(each.session_id);
    content.rows.push_back({{std::to_string(each.position)}, {each.id}, {hexadecimal(session)}, {each.node}});
  }
  return content;
}

int draw_facts(grid& screen, const model& state, const election_status& election, const view_options& options) {
  int y = 0;
  draw_heading(screen, y++, "ELECTION " + election.path, staleness(state), look::warning);
  draw_field(screen, y++, "epoch", std::to_string(election.epoch));
  draw_field(screen, y++, "phase", election.phase + since_text(state, election, options));
  draw_field(screen, y++, "takeover", election.takeover.empty() ? "-" : election.takeover);
  draw_field(screen, y++, "leader", leader_text(election));
  if (election.hand_over) {
    screen.put(indent, y, "hand-over", look::dim);
    draw_hand_over(screen, value_x, y++, *election.hand_over, state.limits);
  } else if (has_activity(election)) {
    draw_activity(screen, indent, y++, election, state.limits);
  }
  for (const auto& each : problems_of(election, state.limits)) {
    screen.put(indent, y, "problem", look::dim);
    screen.put(value_x, y++, each.text, each.how_bad == severity::critical ? look::bad : look::warning);
  }
  return y;
}

/// The terms behind those that wait: an empty line, titles, and a row each.
std::size_t term_lines(const election_status& election) {
  return election.history.empty() ? 0 : election.history.size() + 2;
}

void draw_terms(grid& screen, int y, const election_status& election, wall_time now) {
  if (election.history.empty()) return;
  const table content = history_table(election, now);
  const auto columns = place_columns(content, indent, screen.width() - indent - margin);
  draw_titles(screen, ++y, content, columns);
  for (const auto& row : content.rows) draw_row(screen, ++y, content, row, columns);
}

struct help_line {
  const char* keys;
  const char* what;
};

constexpr help_line help_lines[] = {
    {"q  ctrl-c", "quit"},
    {"j  down", "next election, or scroll down"},
    {"k  up", "previous election, or scroll up"},
    {"g  home", "first"},
    {"G  end", "last"},
    {"enter", "details of the election, with all that wait"},
    {"esc  ?", "back from details or help"},
    {"R", "refresh now"},
    {"Z", "pause, and go on"},
    {"ctrl-z", "suspend; fg brings it back"},
    {"?", "this page"},
    {"", "This screen only reads. To intervene: zkadmin resign PATH"},
};

}  // namespace

std::size_t page_length(const model& state) {
  if (state.shown == page::help) return std::size(help_lines) + 1;
  const auto& elections = state.survey.elections;
  if (state.shown != page::details || state.selected >= elections.size()) return 0;
  const auto& election = elections[state.selected];
  const std::size_t more = (has_activity(election) ? 1 : 0) + problems_of(election, state.limits).size();
  return fact_lines + more + std::max<std::size_t>(election.waiters.size(), 1) + term_lines(election);
}

void draw_details(grid& screen, const model& state, lines where, const view_options& options) {
  if (state.selected >= state.survey.elections.size()) return;
  const auto& election = state.survey.elections[state.selected];
  const table content = waiter_table(election);
  const auto columns = place_columns(content, indent, screen.width() - indent - margin);
  // The whole page scrolls, so that it can be read on the smallest screen.
  grid sheet(screen.width(), static_cast<int>(page_length(state)), screen.is_ascii());
  int y = draw_facts(sheet, state, election, options);
  draw_titles(sheet, y++, content, columns);
  for (const auto& row : content.rows) draw_row(sheet, y++, content, row, columns);
  if (content.rows.empty()) sheet.put(indent, y++, "nobody", look::dim);
  draw_terms(sheet, y, election, state.now);
  screen.copy_lines(sheet, static_cast<int>(state.scroll), where.top, where.count);
}

void draw_help(grid& screen, const model& state, lines where) {
  grid sheet(screen.width(), static_cast<int>(page_length(state)), screen.is_ascii());
  draw_heading(sheet, 0, "KEYS", "", look::plain);
  int y = 1;
  for (const auto& each : help_lines) {
    sheet.put(indent, y, each.keys, look::heading);
    sheet.put(value_x, y++, each.what);
  }
  screen.copy_lines(sheet, static_cast<int>(state.scroll), where.top, where.count);
}

}  // namespace zkadmin
