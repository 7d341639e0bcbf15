// How a terminal shows a character.
#pragma once

#include <string>
#include <vector>

struct text_style {
  bool is_bold = false;
  bool is_dim = false;
  bool is_underlined = false;
  bool is_reversed = false;
  int color = -1;       ///< Number in the palette; -1: that of the terminal.
  int background = -1;  ///< The same.

  /// The numbers of the sequence "select graphic rendition".
  void change(const std::vector<int>& numbers);
  friend bool operator==(const text_style&, const text_style&) = default;
};

/// "B" bold, "D" dim, "U" underlined, "R" reversed, then the colour: "red" or, beyond the first eight, its number, and
/// "/" with the background; "." if nothing of this.
std::string to_text(const text_style& style);
