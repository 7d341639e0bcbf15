#include "terminal/table.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace zkadmin {
namespace {

constexpr int gap = 2;

bool spans(const table& content, const table_row& row, std::size_t index) {
  return index + 1 == row.size() && row.size() < content.columns.size();
}

int column_width(const table& content, std::size_t index) {
  int width = places(content.columns[index].title);
  for (const auto& row : content.rows)
    if (index < row.size() && !spans(content, row, index)) width = std::max(width, places(row[index].text));
  return width;
}

std::vector<int> widths_of(const table& content) {
  if (!content.widths.empty()) return content.widths;
  std::vector<int> widths;
  for (std::size_t i = 0; i < content.columns.size(); ++i) widths.push_back(column_width(content, i));
  return widths;
}

std::vector<placed_column> all_columns(const table& content) {
  const auto widths = widths_of(content);
  std::vector<placed_column> columns;
  for (std::size_t i = 0; i < widths.size(); ++i) columns.push_back({i, 0, widths[i]});
  return columns;
}

int total_width(const std::vector<placed_column>& columns) {
  int total = 0;
  for (const auto& each : columns) total += each.width + gap;
  return total - gap;
}

int least_width(const table& content, const placed_column& where) {
  const column& which = content.columns[where.index];
  return which.right ? where.width : std::min(where.width, which.least);
}

int least_total(const table& content, const std::vector<placed_column>& columns) {
  int total = 0;
  for (const auto& each : columns) total += least_width(content, each) + gap;
  return total - gap;
}

void drop_columns(const table& content, std::vector<placed_column>& columns, int width) {
  const auto by_rank = [&content](const placed_column& a, const placed_column& b) {
    return content.columns[a.index].rank < content.columns[b.index].rank;
  };
  while (!columns.empty() && least_total(content, columns) > width) {
    const auto least = std::max_element(columns.begin(), columns.end(), by_rank);
    if (content.columns[least->index].rank == 0) break;
    columns.erase(least);
  }
}

/// Narrows, one place at a time, the column that is furthest above its least width or, if none is above, the widest
/// column.
void shrink_columns(const table& content, std::vector<placed_column>& columns, int width) {
  const auto spare = [&content](const placed_column& each) { return each.width - least_width(content, each); };
  const auto by_spare = [&spare](const placed_column& a, const placed_column& b) {
    return spare(a) != spare(b) ? spare(a) < spare(b) : a.width < b.width;
  };
  for (int excess = total_width(columns) - width; excess > 0; --excess) {
    const auto widest = std::max_element(columns.begin(), columns.end(), by_spare);
    if (widest == columns.end() || widest->width == 0) break;
    --widest->width;
  }
}

void put_aligned(grid& screen, int y, const placed_column& where, const column& how, const table_cell& what) {
  const int shift = how.right ? std::max(where.width - places(what.text), 0) : 0;
  const std::string text = how.in_middle ? cut_in_middle(what.text, where.width) : what.text;
  screen.put(where.x + shift, y, text, what.look, where.width - shift);
}

}  // namespace

void measure(table& content) {
  content.widths.clear();
  content.widths = widths_of(content);
}

std::vector<placed_column> place_columns(const table& content, int x, int width) {
  auto columns = all_columns(content);
  drop_columns(content, columns, width);
  shrink_columns(content, columns, width);
  for (auto& each : columns) {
    each.x = x;
    x += each.width + gap;
  }
  const int left = width - total_width(columns);
  if (left > 0 && !columns.empty() && !content.columns[columns.back().index].right) columns.back().width += left;
  return columns;
}

int natural_width(const table& content) {
  const auto columns = all_columns(content);
  int width = total_width(columns);
  for (const auto& row : content.rows) {
    int used = 0;
    for (std::size_t i = 0; i < row.size(); ++i)
      used += (spans(content, row, i) ? places(row[i].text) : columns[i].width) + gap;
    width = std::max(width, used - gap);
  }
  return width;
}

void draw_titles(grid& screen, int y, const table& content, const std::vector<placed_column>& columns) {
  for (const auto& each : columns) {
    const auto& column = content.columns[each.index];
    put_aligned(screen, y, each, column, {column.title, look::heading});
  }
}

void draw_row(grid& screen, int y, const table& content, const table_row& row,
              const std::vector<placed_column>& columns) {
  const bool has_span = row.size() < content.columns.size();
  const std::size_t whole = row.size() - (has_span ? 1 : 0);
  int behind = columns.empty() ? 0 : columns.front().x;
  for (const auto& each : columns) {
    if (each.index >= whole) break;
    put_aligned(screen, y, each, content.columns[each.index], row[each.index]);
    behind = each.x + each.width + gap;
  }
  if (has_span) screen.put(behind, y, row.back().text, row.back().look);
}

namespace {

/// How many of the glyphs fit into `width` places.
std::size_t fitting(std::u32string_view glyphs, int width) {
  std::size_t count = 0;
  while (count < glyphs.size() && places(glyphs[count]) <= width) width -= places(glyphs[count++]);
  return count;
}

/// As much of the end as fits into `width` places.
std::u32string tail_of(const std::u32string& glyphs, int width) {
  std::u32string tail(glyphs.rbegin(), glyphs.rend());
  tail.resize(fitting(tail, width));
  return {tail.rbegin(), tail.rend()};
}

/// How many glyphs the next line takes, and how many spaces behind them are dropped.
struct line_break {
  std::size_t shown;
  std::size_t dropped;
};

line_break next_break(std::u32string_view rest, int width) {
  const auto fits = std::max<std::size_t>(fitting(rest, width), 1);
  if (fits >= rest.size()) return {rest.size(), 0};
  const auto space = rest.substr(0, fits + 1).find_last_of(U' ');
  if (space == rest.npos || space == 0) return {fits, 0};
  const auto shown = rest.substr(0, space).find_last_not_of(U' ') + 1;
  const auto next = std::min(rest.find_first_not_of(U' ', space), rest.size());
  return shown == 0 ? line_break{fits, 0} : line_break{shown, next - shown};
}

}  // namespace

std::string cut_in_middle(std::string_view utf8, int width) {
  const std::u32string text = displayable(utf8);
  if (fitting(text, width) == text.size()) return to_utf8(text);
  if (width < 1) return {};
  const int head = (width - 1) / 2;
  return to_utf8(text.substr(0, fitting(text, head)) + U'…' + tail_of(text, width - 1 - head));
}

std::string cut_at_begin(std::string_view utf8, int width) {
  const std::u32string text = displayable(utf8);
  if (fitting(text, width) == text.size()) return to_utf8(text);
  return width < 1 ? std::string() : to_utf8(U'…' + tail_of(text, width - 1));
}

std::vector<std::string> wrapped(std::string_view utf8, int width) {
  const std::u32string text = displayable(utf8);
  std::vector<std::string> lines;
  std::u32string_view rest = text;
  do {
    const auto [shown, dropped] = next_break(rest, std::max(width, 1));
    lines.push_back(to_utf8(rest.substr(0, shown)));
    rest.remove_prefix(shown + dropped);
  } while (!rest.empty());
  return lines;
}

}  // namespace zkadmin
