// A screen as plain data: cells of one character and a look.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zkadmin {

/// The meaning of a cell. The terminal decides how to show it, with or without colours.
enum class look : std::uint8_t { plain, title, heading, dim, good, warning, bad, selected };

struct cell {
  char32_t glyph = U' ';  ///< 0: the right half of the wide character to the left.
  zkadmin::look look = zkadmin::look::plain;
  friend bool operator==(const cell&, const cell&) = default;
};

/// Writing outside the grid is allowed and has no effect.
class grid {
 public:
  /// `ascii`: characters that are not ASCII are replaced when they are written.
  grid(int width, int height, bool ascii = false);

  int width() const noexcept { return width_; }
  int height() const noexcept { return height_; }
  const cell& at(int x, int y) const { return cells_.at(index_of(x, y)); }

  /// Writes at most `room` places (up to the right edge, if negative). A longer text is cut and ends in an ellipsis.
  /// Returns the x behind the text.
  int put(int x, int y, std::string_view utf8, look how = look::plain, int room = -1);
  /// Writes the same glyph `count` times.
  int fill(int x, int y, int count, char32_t glyph, look how = look::plain);
  /// Gives a whole line one look.
  void mark_line(int y, look how);

  /// Copies `count` lines of another grid, from its line `first` on, to the lines from `top` on.
  void copy_lines(const grid& from, int first, int top, int count);

  bool is_ascii() const noexcept { return ascii_; }

  /// The characters, without blanks at the ends of lines.
  std::string to_text() const;

  friend bool operator==(const grid&, const grid&) = default;

 private:
  std::size_t index_of(int x, int y) const noexcept {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x);
  }
  void put_glyph(int x, int y, char32_t glyph, look how);
  char32_t adapted(char32_t glyph) const noexcept;

  int width_;
  int height_;
  bool ascii_;
  std::vector<cell> cells_;
};

}  // namespace zkadmin
