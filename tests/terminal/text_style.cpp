#include "text_style.hpp"

#include <array>
#include <cstddef>

namespace {

/// What stands at `at`: a colour of the palette, or its number behind "38;5" or "48;5".
int color_at(const std::vector<int>& numbers, std::size_t& at, int first) {
  if (numbers[at] != first + 8) return numbers[at] - first;
  at += 2;
  return at < numbers.size() ? numbers[at] : -1;
}

bool is_between(int number, int first, int last) { return first <= number && number <= last; }

std::string name_of_color(int color) {
  constexpr std::array names{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"};
  const auto place = static_cast<std::size_t>(color);
  return place < names.size() ? names[place] : "#" + std::to_string(color) + ":";
}

}  // namespace

void text_style::change(const std::vector<int>& numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const int each = numbers[i];
    if (each == 0) *this = {};
    if (each == 1) is_bold = true;
    if (each == 2) is_dim = true;
    if (each == 22) is_bold = is_dim = false;
    if (each == 4 || each == 24) is_underlined = each == 4;
    if (each == 7 || each == 27) is_reversed = each == 7;
    if (each == 39) color = -1;
    if (each == 49) background = -1;
    if (is_between(each, 30, 38)) color = color_at(numbers, i, 30);
    if (is_between(each, 40, 48)) background = color_at(numbers, i, 40);
    if (is_between(each, 90, 97)) color = each - 90 + 8;
    if (is_between(each, 100, 107)) background = each - 100 + 8;
  }
}

std::string to_text(const text_style& style) {
  std::string text;
  if (style.is_bold) text += 'B';
  if (style.is_dim) text += 'D';
  if (style.is_underlined) text += 'U';
  if (style.is_reversed) text += 'R';
  if (style.color >= 0) text += name_of_color(style.color);
  if (style.background >= 0) text += '/' + name_of_color(style.background);
  return text.empty() ? "." : text;
}
