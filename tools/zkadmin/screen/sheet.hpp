// A page of lines that is scrolled as a whole: details, help.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "screen/pages.hpp"
#include "terminal/grid.hpp"
#include "terminal/table.hpp"

namespace zkadmin {

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
