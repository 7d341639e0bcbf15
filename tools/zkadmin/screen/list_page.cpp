// A page that is one list.
#include <algorithm>

#include "screen/list_view.hpp"
#include "screen/pages.hpp"
#include "screen/table.hpp"

namespace zkadmin {

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
