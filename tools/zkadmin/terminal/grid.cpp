#include "terminal/grid.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace zkadmin {

grid::grid(int width, int height, bool ascii)
    : width_(std::max(width, 0)),
      height_(std::max(height, 0)),
      ascii_(ascii),
      cells_(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_)) {}

char32_t grid::adapted(char32_t glyph) const noexcept {
  if (!ascii_ || glyph < 0x7F) return glyph;
  switch (glyph) {
    case U'─': return U'-';
    case U'█': return U'#';
    case U'░': return U'.';
    case U'…': return U'~';
    case U'▸': return U'>';
    default: return U'?';
  }
}

void grid::put_glyph(int x, int y, char32_t glyph, look how) {
  if (x < 0 || y < 0 || x >= width_ || y >= height_) return;
  cells_[index_of(x, y)] = {glyph, how};
}

int grid::put(int x, int y, std::string_view utf8, look how, int room) {
  std::u32string text = displayable(utf8);
  for (auto& glyph : text) glyph = adapted(glyph);
  int left = room < 0 ? width_ - x : std::min(room, width_ - x);
  int needed = 0;
  for (const char32_t glyph : text) needed += places(glyph);
  const bool cut = needed > left;
  for (const char32_t glyph : text) {
    const int taken = places(glyph);
    if (left < taken + (cut ? 1 : 0)) break;
    put_glyph(x, y, glyph, how);
    if (taken == 2) put_glyph(x + 1, y, 0, how);
    x += taken;
    left -= taken;
  }
  if (cut && left > 0) put_glyph(x++, y, adapted(U'…'), how);
  return x;
}

int grid::fill(int x, int y, int count, char32_t glyph, look how) {
  for (int i = 0; i < count; ++i) put_glyph(x + i, y, adapted(glyph), how);
  return x + std::max(count, 0);
}

void grid::mark_line(int y, look how) {
  if (y < 0 || y >= height_) return;
  const auto begin = cells_.begin() + static_cast<std::ptrdiff_t>(y) * width_;
  std::for_each(begin, begin + width_, [how](cell& each) { each.look = how; });
}

void grid::copy_lines(const grid& from, int first, int top, int count) {
  for (int i = 0; i < count && first + i < from.height_; ++i)
    for (int x = 0; x < std::min(width_, from.width_); ++x) {
      const cell& each = from.at(x, first + i);
      put_glyph(x, top + i, each.glyph, each.look);
    }
}

std::string grid::to_text() const {
  std::string text;
  for (int y = 0; y < height_; ++y) {
    std::u32string line;
    for (int x = 0; x < width_; ++x)
      if (const char32_t glyph = at(x, y).glyph) line.push_back(glyph);
    line.resize(line.find_last_not_of(U' ') + 1);
    text += to_utf8(line) + '\n';
  }
  return text;
}

}  // namespace zkadmin
