// The parts that `render` puts together; each draws into the lines it is given.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "screen/list_view.hpp"
#include "screen/model.hpp"
#include "terminal/grid.hpp"
#include "terminal/table.hpp"

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

// A page of lines that is scrolled as a whole: details, help.

/// Nothing on it is cut: a long text takes several lines, and columns that do not fit follow their row as a text.
class sheet {
 public:
  explicit sheet(int width) : width_(width) {}

  int width() const noexcept { return width_; }

  /// "ELECTION /billing/consumer ----- remark". A name that does not fit follows as a field.
  void add_subject(const std::string& kind, const std::string& name, const std::string& remark = {});
  void add_heading(const std::string& title, const std::string& remark = {});
  /// A name and its value.
  void add_field(const std::string& name, const std::string& value, look how = look::plain);
  void add_text(const std::string& text, look how = look::plain);
  /// With its titles. Without rows nothing is added.
  void add_table(const table& content);
  /// A line that `draw` puts at the given y.
  void add_line(std::function<void(grid& screen, int y)> draw);

  std::size_t length() const noexcept { return length_; }

  /// Draws from the line `first` on.
  void draw(grid& screen, std::size_t first, lines where) const;

  static constexpr int value_x = 16;  ///< Where values begin.

 private:
  /// Some lines, which are drawn when they are on the screen.
  struct block {
    std::size_t length;
    std::function<void(grid& screen, std::size_t line, int y)> draw_line;
  };
  void add(block lines);
  void add_record(const std::string& text, int x);
  int room(int x) const noexcept { return width_ - x - margin; }

  int width_;
  std::size_t length_ = 0;
  std::vector<block> blocks_;
};

}  // namespace zkadmin
