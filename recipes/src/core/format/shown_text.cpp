#include "format/shown_text.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace zkrecipes::detail {

namespace {

struct range {
  char32_t first;
  char32_t last;
};

constexpr range hidden_ranges[] = {
    {0x0000, 0x001F},   {0x007F, 0x009F},    {0x00AD, 0x00AD}, {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05C7},
    {0x0600, 0x061C},   {0x064B, 0x065F},    {0x0670, 0x0670}, {0x06D6, 0x06ED}, {0x0900, 0x0903}, {0x093A, 0x094F},
    {0x0E31, 0x0E31},   {0x0E34, 0x0E3A},    {0x0E47, 0x0E4E}, {0x1160, 0x11FF}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},
    {0x200B, 0x200F},   {0x2028, 0x202E},    {0x2060, 0x206F}, {0x20D0, 0x20FF}, {0x302A, 0x302F}, {0x3099, 0x309A},
    {0xE000, 0xF8FF},   {0xFE00, 0xFE0F},    {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0xFFF0, 0xFFFB}, {0xFFFE, 0xFFFF},
    {0xE0000, 0xE0FFF}, {0xF0000, 0x10FFFF},
};

/// Length of the sequence that a byte begins; 0 if it can not begin one.
std::size_t sequence_length(unsigned char lead) noexcept {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  if (lead >= 0xF0 && lead < 0xF5) return 4;
  return 0;
}

bool is_no_character(char32_t value) noexcept { return (value >= 0xD800 && value <= 0xDFFF) || value > 0x10FFFF; }

char digit_of(char32_t value, int place) { return "0123456789abcdef"[value >> 4 * place & 15]; }

void append_code_unit(std::string& text, char32_t unit) {
  text += "\\u";
  for (int place = 3; place >= 0; --place) text += digit_of(unit, place);
}

/// As JSON has it: what is above U+FFFF are two surrogates.
void append_code(std::string& text, char32_t glyph) {
  if (glyph < 0x10000) return append_code_unit(text, glyph);
  append_code_unit(text, 0xD800 + ((glyph - 0x10000) >> 10));
  append_code_unit(text, 0xDC00 + ((glyph - 0x10000) & 0x3FF));
}

}  // namespace

char32_t take_character(std::string_view& utf8) noexcept {
  const auto lead = static_cast<unsigned char>(utf8.front());
  const auto length = sequence_length(lead);
  constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  char32_t glyph = length == 1 ? lead : lead & (0x7F >> length);
  bool is_good = length > 0 && utf8.size() >= length;
  for (std::size_t i = 1; is_good && i < length; ++i) {
    const auto next = static_cast<unsigned char>(utf8[i]);
    is_good = (next & 0xC0) == 0x80;
    glyph = glyph << 6 | (next & 0x3F);
  }
  is_good = is_good && glyph >= smallest[length] && !is_no_character(glyph);
  utf8.remove_prefix(is_good ? length : 1);
  return is_good ? glyph : replacement;
}

void append_utf8(std::string& text, char32_t glyph) {
  const auto byte = [&text](char32_t value) { text.push_back(static_cast<char>(value)); };
  if (glyph < 0x80) {
    byte(glyph);
  } else if (glyph < 0x800) {
    byte(0xC0 | glyph >> 6);
    byte(0x80 | (glyph & 0x3F));
  } else if (glyph < 0x10000) {
    byte(0xE0 | glyph >> 12);
    byte(0x80 | (glyph >> 6 & 0x3F));
    byte(0x80 | (glyph & 0x3F));
  } else {
    byte(0xF0 | glyph >> 18);
    byte(0x80 | (glyph >> 12 & 0x3F));
    byte(0x80 | (glyph >> 6 & 0x3F));
    byte(0x80 | (glyph & 0x3F));
  }
}

bool is_hidden(char32_t glyph) noexcept {
  return std::any_of(std::begin(hidden_ranges), std::end(hidden_ranges),
                     [glyph](const range& each) { return each.first <= glyph && glyph <= each.last; });
}

bool is_plain_ascii(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](unsigned char each) { return each >= 0x20 && each < 0x7F; });
}

std::string shown_text(std::string_view utf8) {
  if (is_plain_ascii(utf8)) return std::string(utf8);
  std::string text;
  while (!utf8.empty()) {
    const auto glyph = take_character(utf8);
    append_utf8(text, is_hidden(glyph) ? replacement : glyph);
  }
  return text;
}

std::string coded_text(std::string_view utf8, std::string_view kept) {
  if (is_plain_ascii(utf8)) return std::string(utf8);
  std::string text;
  while (!utf8.empty()) {
    const auto from = utf8;
    const auto glyph = take_character(utf8);
    const auto bytes = from.substr(0, from.size() - utf8.size());
    if (!is_hidden(glyph) || kept.find(bytes) != kept.npos) {
      append_utf8(text, glyph);
      continue;
    }
    for (const unsigned char each : bytes) text.append({'\\', 'x', digit_of(each, 1), digit_of(each, 0)});
  }
  return text;
}

std::string coded_json(std::string_view json) {
  if (is_plain_ascii(json)) return std::string(json);
  std::string text;
  while (!json.empty()) {
    const auto glyph = take_character(json);
    is_hidden(glyph) ? append_code(text, glyph) : append_utf8(text, glyph);
  }
  return text;
}

}  // namespace zkrecipes::detail
