#include "screen/list_view.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

#include "base/text.hpp"
#include "screen/page_content.hpp"

namespace zkadmin {
namespace {

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool has_capitals(std::string_view text) noexcept {
  return std::any_of(text.begin(), text.end(), [](char c) { return c != lower(c); });
}

}  // namespace

bool passes(std::string_view text, std::string_view filter) {
  const bool is_inverted = filter.starts_with('!');
  if (is_inverted) filter.remove_prefix(1);
  if (filter.empty()) return true;
  const bool is_exact = has_capitals(filter);
  const auto same = [is_exact](char a, char b) { return (is_exact ? a : lower(a)) == b; };
  const bool is_in = std::search(text.begin(), text.end(), filter.begin(), filter.end(), same) != text.end();
  return is_in != is_inverted;
}

namespace {

std::string text_of(const table_row& row) {
  std::string text;
  for (const auto& each : row) text += each.text + ' ';
  return text;
}

/// The rows at these indices, in this order.
void select_rows(list_view& list, const std::vector<std::size_t>& wanted) {
  std::vector<table_row> rows;
  std::vector<list_key> keys;
  for (const auto each : wanted) {
    rows.push_back(std::move(list.content.rows[each]));
    keys.push_back(std::move(list.keys[each]));
  }
  list.content.rows = std::move(rows);
  list.keys = std::move(keys);
}

void apply_filter(list_view& list, const std::string& filter) {
  if (filter.empty()) return;
  std::vector<std::size_t> wanted;
  for (std::size_t i = 0; i < list.keys.size(); ++i)
    if (passes(text_of(list.content.rows[i]), filter)) wanted.push_back(i);
  select_rows(list, wanted);
}

/// The figure of a cell; nothing if it is a text.
std::optional<std::int64_t> figure_of(const table_cell& cell) {
  if (cell.figure) return cell.figure;
  std::int64_t number = 0;
  const char* const end = cell.text.data() + cell.text.size();
  const auto read = std::from_chars(cell.text.data(), end, number);
  return read.ec == std::errc() && read.ptr == end ? std::optional(number) : std::nullopt;
}

/// Figures from the largest, then texts from A.
bool comes_before(const table_cell& a, const table_cell& b) {
  const auto figure_a = figure_of(a);
  const auto figure_b = figure_of(b);
  return figure_a == figure_b ? a.text < b.text && !figure_a : figure_a > figure_b;
}

void apply_order(list_view& list, const list_state& wish) {
  std::vector<std::size_t> order(list.keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto& rows = list.content.rows;
  const auto cell_of = [&](std::size_t row) {
    return *wish.sorted_by < rows[row].size() ? rows[row][*wish.sorted_by] : table_cell{};
  };
  if (wish.sorted_by)
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return comes_before(cell_of(a), cell_of(b)); });
  if (wish.is_inverted) std::reverse(order.begin(), order.end());
  select_rows(list, order);
}

}  // namespace

list_view list_of(const model& state, page which) {
  auto list = whole_list(state, which);
  const auto& wish = state.lists[static_cast<std::size_t>(which)];
  list.total = list.keys.size();
  apply_filter(list, wish.filter);
  if (wish.sorted_by || wish.is_inverted) apply_order(list, wish);
  measure(list.content);
  return list;
}

std::string heading_of(const model& state, page which, const list_view& list, const std::string& title) {
  const auto& wish = state.lists[static_cast<std::size_t>(which)];
  std::string text = title;
  const auto count = std::to_string(list.keys.size());
  if (list.is_known) text += " " + count;
  if (!wish.filter.empty()) text += " of " + std::to_string(list.total) + " /" + wish.filter;
  if (wish.sorted_by && *wish.sorted_by < list.content.columns.size())
    text += " by " + list.content.columns[*wish.sorted_by].title;
  return text + (wish.is_inverted ? " inverted" : "");
}

}  // namespace zkadmin
