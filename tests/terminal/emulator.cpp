#include "emulator.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "base/text.hpp"

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

emulator::emulator(int width, int height) : width_(width), height_(height) { resize(width, height); }

void emulator::resize(int width, int height) {
  width_ = width;
  height_ = height;
  lines_.resize(static_cast<std::size_t>(height));
  for (auto& each : lines_) each.resize(static_cast<std::size_t>(width));
  top_ = 0;
  bottom_ = height - 1;
  move(x_, y_);
}

std::string emulator::line(int y) const {
  std::u32string shown;
  for (const auto& each : lines_.at(static_cast<std::size_t>(y)))
    if (each.glyph != 0) shown.push_back(each.glyph);
  shown.resize(shown.find_last_not_of(U' ') + 1);
  return zkadmin::to_utf8(shown);
}

std::vector<text_style> emulator::styles(int y) const {
  std::vector<text_style> all;
  for (const auto& each : lines_.at(static_cast<std::size_t>(y))) all.push_back(each.style);
  return all;
}

std::string emulator::text() const {
  std::string all;
  for (int y = 0; y < height_; ++y) all += line(y) + "\n";
  return all;
}

void emulator::feed(std::string_view bytes) {
  for (const char each : bytes) take(static_cast<unsigned char>(each));
}

void emulator::take(unsigned char byte) {
  if (!escape_.empty()) {
    escape_ += static_cast<char>(byte);
    const bool is_csi = escape_[1] == '[';
    const bool is_charset = escape_[1] == '(' || escape_[1] == ')';
    if (is_csi ? escape_.size() > 2 && byte >= 0x40 : !is_charset || escape_.size() == 3) finish_escape();
  } else if (byte == 0x1b) {
    escape_ = "\x1b";
  } else if (missing_ > 0) {
    glyph_ = glyph_ << 6 | (byte & 0x3F);
    if (--missing_ == 0) put(glyph_);
  } else if (byte >= 0xC0) {
    missing_ = byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : 1;
    glyph_ = byte & (0x3F >> missing_);
  } else if (byte < 0x20) {
    control(static_cast<char>(byte));
  } else {
    put(byte);
  }
}

void emulator::control(char byte) {
  if (byte == '\r') x_ = 0;
  if (byte == '\b') x_ = std::max(x_ - 1, 0);
  if (byte == '\t') x_ = std::min(x_ / 8 * 8 + 8, width_ - 1);
  if (byte != '\n') return;
  if (y_ == bottom_) shift_lines(top_, -1);
  if (y_ != bottom_) move(x_, y_ + 1);
}

// Moves the lines from `top` to the end of the region down, or up if `count` is negative. Blank lines fill the gap.
void emulator::shift_lines(int top, int count) {
  const cells blank(static_cast<std::size_t>(width_));
  for (int i = 0; i < std::abs(count); ++i) {
    lines_.erase(lines_.begin() + (count > 0 ? bottom_ : top));
    lines_.insert(lines_.begin() + (count > 0 ? top : bottom_), blank);
  }
}

// Moves the characters from the cursor on to the right, or to the left if `count` is negative.
void emulator::shift_characters(int count) {
  auto& current = lines_[static_cast<std::size_t>(y_)];
  const auto here = current.begin() + x_;
  if (count > 0) current.insert(here, static_cast<std::size_t>(count), cell());
  if (count < 0) current.erase(here, here - std::max<std::ptrdiff_t>(count, x_ - width_));
  current.resize(static_cast<std::size_t>(width_));
}

void emulator::set_region() {
  top_ = std::clamp(parameter(0, 1) - 1, 0, height_ - 1);
  bottom_ = std::clamp(parameter(1, height_) - 1, top_, height_ - 1);
  move(0, 0);
}

void emulator::put(char32_t glyph) {
  last_ = glyph;
  if (x_ >= width_) {
    x_ = 0;
    control('\n');
  }
  auto& current = lines_[static_cast<std::size_t>(y_)];
  current[static_cast<std::size_t>(x_++)] = {glyph, style_};
  if (zkadmin::places(glyph) == 2 && x_ < width_) current[static_cast<std::size_t>(x_++)] = {0, style_};
}

void emulator::move(int x, int y) {
  x_ = std::clamp(x, 0, width_ - 1);
  y_ = std::clamp(y, 0, height_ - 1);
}

int emulator::parameter(std::size_t index, int otherwise) const {
  return index < numbers_.size() && numbers_[index] > 0 ? numbers_[index] : otherwise;
}

void emulator::erase(int from_x, int from_y, int to_x, int to_y) {
  for (int y = from_y; y <= to_y; ++y)
    for (int x = y == from_y ? from_x : 0; x < (y == to_y ? to_x : width_); ++x)
      lines_[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)] = {};
}

void emulator::erase_display(int which) {
  if (which == 0) erase(x_, y_, width_, height_ - 1);
  if (which == 1) erase(0, 0, x_ + 1, y_);
  if (which == 2) erase(0, 0, width_, height_ - 1);
}

void emulator::erase_line(int which) {
  if (which == 0) erase(x_, y_, width_, y_);
  if (which == 1) erase(0, y_, x_ + 1, y_);
  if (which == 2) erase(0, y_, width_, y_);
}

void emulator::set_modes(bool on) {
  for (const int each : numbers_) {
    if (each == 25) cursor_visible_ = on;
    if (each == 1049 || each == 47) alternate_ = on;
    if (each == 1000) takes_mouse_ = on;
  }
}

void emulator::parse_numbers(std::string_view text) {
  numbers_ = {0};
  for (const char each : text) {
    if (each >= '0' && each <= '9') numbers_.back() = numbers_.back() * 10 + (each - '0');
    if (each == ';') numbers_.push_back(0);
  }
}

void emulator::finish_escape() {
  const std::string sequence = std::exchange(escape_, {});
  if (sequence[1] == '[') {
    parse_numbers(sequence);
    const char last = sequence.back();
    if (!move_cursor(last) && !edit(last) && !change_state(last))
      throw std::runtime_error("the emulator does not know the sequence ESC" + sequence.substr(1));
  } else if (sequence[1] == 'M' && y_ == top_) {
    shift_lines(top_, 1);
  } else if (sequence[1] == 'M') {
    move(x_, y_ - 1);
  }
}

// These three functions return whether the sequence with this last character is one of their own.
bool emulator::move_cursor(char last) {
  const int count = parameter(0, 1);
  // clang-format off
  switch (last) {
    case 'H': move(parameter(1, 1) - 1, count - 1); return true;
    case 'A': move(x_, y_ - count); return true;
    case 'B': move(x_, y_ + count); return true;
    case 'C': move(x_ + count, y_); return true;
    case 'D': move(x_ - count, y_); return true;
    case 'G': move(count - 1, y_); return true;
    case 'd': move(x_, count - 1); return true;
    default: return false;
  }
  // clang-format on
}

bool emulator::edit(char last) {
  const int count = parameter(0, 1);
  // clang-format off
  switch (last) {
    case 'J': erase_display(numbers_[0]); return true;
    case 'K': erase_line(numbers_[0]); return true;
    case 'X': erase(x_, y_, std::min(x_ + count, width_), y_); return true;
    case 'b': for (int i = 0; i < count; ++i) put(last_); return true;
    case 'S': shift_lines(top_, -count); return true;
    case 'T': shift_lines(top_, count); return true;
    case 'L': shift_lines(y_, count); return true;
    case 'M': shift_lines(y_, -count); return true;
    case '@': shift_characters(count); return true;
    case 'P': shift_characters(-count); return true;
    default: return false;
  }
  // clang-format on
}

bool emulator::change_state(char last) {
  const auto is_color = [](int number) { return (number >= 30 && number <= 38) || number >= 90; };
  // clang-format off
  switch (last) {
    case 'm': saw_colors_ |= std::any_of(numbers_.begin(), numbers_.end(), is_color); style_.change(numbers_); return true;
    case 'h': set_modes(true); return true;
    case 'l': set_modes(false); return true;
    case 'r': set_region(); return true;
    case 'c': case 't': case 'n': return true;  // Queries, and commands to a window manager.
    default: return false;
  }
  // clang-format on
}
