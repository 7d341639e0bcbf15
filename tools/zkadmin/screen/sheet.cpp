#include "screen/sheet.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/text.hpp"
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

}  // namespace zkadmin
