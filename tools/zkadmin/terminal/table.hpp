// Tables that fit any width: the least important columns are left out first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "terminal/grid.hpp"

namespace zkadmin {

struct column {
  std::string title;
  int rank = 0;            ///< 0: always shown; the highest is left out first.
  bool right = false;      ///< Aligned to the right; not cut while another column can be.
  int least = 12;          ///< The column may be cut down to this before any column is left out.
  bool in_middle = false;  ///< Names: a text that is too long is cut in its middle, not at its end.
};

struct table_cell {
  std::string text;
  zkadmin::look look = zkadmin::look::plain;
  std::optional<std::int64_t> figure{};  ///< A list is sorted by it in place of the text.
};

/// A row with fewer cells than there are columns: its last cell spans the rest of the line.
using table_row = std::vector<table_cell>;

struct table {
  std::vector<column> columns;
  std::vector<table_row> rows;
  std::vector<int> widths{};  ///< Those of the columns, if `measure` was called behind the last change; else empty.
};

/// Sets the widths, for a table that is drawn more than once.
void measure(table& content);

struct placed_column {
  std::size_t index;
  int x;
  int width;
};

/// The columns that fit between `x` and `x` + `width`; the last one gets the rest of the width, unless it is
/// aligned to the right.
std::vector<placed_column> place_columns(const table& content, int x, int width);

/// The width at which nothing is cut.
int natural_width(const table& content);

void draw_titles(grid& screen, int y, const table& content, const std::vector<placed_column>& columns);
void draw_row(grid& screen, int y, const table& content, const table_row& row,
              const std::vector<placed_column>& columns);

// Texts for a given width.

/// At most `width` places: of a longer text both ends are kept, with an ellipsis between them.
std::string cut_in_middle(std::string_view utf8, int width);

/// At most `width` places: of a longer text the end is kept.
std::string cut_at_begin(std::string_view utf8, int width);

/// The whole text in lines of at most `width` places, broken at spaces if there are any.
std::vector<std::string> wrapped(std::string_view utf8, int width);

}  // namespace zkadmin
