// The parts that `render` puts together; each draws into the lines it is given.
#pragma once

#include <string>

#include "screen/list_view.hpp"
#include "screen/model.hpp"
#include "screen/render.hpp"
#include "terminal/grid.hpp"

namespace zkadmin {

constexpr int margin = 1;  // Columns left free at both sides.
constexpr int indent = 3;  // Column at which the lines below a heading begin.

/// Lines `top` to `top` + `count` - 1 of the screen.
struct lines {
  int top;
  int count;
};

/// The lines between title and keys on a screen of this height.
lines body_of(int height) noexcept;

/// The parts of a list in so many lines: what does not fit goes, and the rows last.
struct list_layout {
  bool has_heading;
  bool has_titles;
  int rows;
};
list_layout layout_of(lines where) noexcept;

/// `list`: that of the page.
void draw_overview(grid& screen, const model& state, lines where, const list_view& list);
void draw_list(grid& screen, const model& state, lines where, const list_view& list);

/// "ELECTIONS 3 ------- remark".
void draw_heading(grid& screen, int y, const std::string& title, const std::string& remark, look remark_look);

/// "a -> b  finishing  1.2 s / 10 s  [####------]".
void draw_hand_over(grid& screen, int x, int y, const hand_over_status& hand_over, const problem_limits& limits);

/// The activity of an election, on a line of its own: a hand-over, or a requested resignation.
bool has_activity(const election_status& election);
void draw_activity(grid& screen, int x, int y, const election_status& election, const problem_limits& limits);

/// A row of a list that is selected.
void mark_selected(grid& screen, int y);

/// "none", or why nothing is known.
std::string empty_text(const model& state, bool is_known, bool is_filtered);

/// Why the elections on screen are out of date; empty if they are current.
std::string staleness(const model& state);

std::string time_of_day(const model& state, wall_time when);

}  // namespace zkadmin
