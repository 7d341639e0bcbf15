#include "screen/fitted.hpp"

#include <algorithm>

#include "text.hpp"

namespace zkadmin {
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
