#include "report/printed.hpp"

namespace zkadmin {

std::string printed(const table& content) {
  const int width = natural_width(content);
  grid page(width, static_cast<int>(content.rows.size()) + 1);
  const auto columns = place_columns(content, 0, width);
  draw_titles(page, 0, content, columns);
  for (std::size_t i = 0; i < content.rows.size(); ++i)
    draw_row(page, static_cast<int>(i) + 1, content, content.rows[i], columns);
  return page.to_text();
}

}  // namespace zkadmin
