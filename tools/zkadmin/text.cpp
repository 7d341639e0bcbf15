#include "text.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>

namespace zkadmin {
namespace {

struct range {
  char32_t first;
  char32_t last;
};

// East Asian wide and fullwidth characters and the emoji planes, by blocks.
constexpr range wide_ranges[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},   {0x4E00, 0x9FFF}, {0xA000, 0xA4CF},
    {0xA960, 0xA97F},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60}, {0xFFE0, 0xFFE6},
    {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD},
};

// Control and private-use characters, and characters that take no place or change the direction of the text behind
// them.
constexpr range hidden_ranges[] = {
    {0x0000, 0x001F},   {0x007F, 0x009F},    {0x00AD, 0x00AD}, {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05C7},
    {0x0600, 0x061C},   {0x064B, 0x065F},    {0x0670, 0x0670}, {0x06D6, 0x06ED}, {0x0900, 0x0903}, {0x093A, 0x094F},
    {0x0E31, 0x0E31},   {0x0E34, 0x0E3A},    {0x0E47, 0x0E4E}, {0x1160, 0x11FF}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},
    {0x200B, 0x200F},   {0x2028, 0x202E},    {0x2060, 0x206F}, {0x20D0, 0x20FF}, {0x302A, 0x302F}, {0x3099, 0x309A},
    {0xE000, 0xF8FF},   {0xFE00, 0xFE0F},    {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0xFFF0, 0xFFFB}, {0xFFFE, 0xFFFF},
    {0xE0000, 0xE0FFF}, {0xF0000, 0x10FFFF},
};

template <std::size_t Count>
bool is_in(const range (&ranges)[Count], char32_t glyph) noexcept {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [glyph](const range& each) { return each.first <= glyph && glyph <= each.last; });
}

// Length of the sequence that a lead byte begins; 0 if it cannot begin one.
int sequence_length(unsigned char lead) noexcept {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  if (lead >= 0xF0 && lead < 0xF5) return 4;
  return 0;
}

bool is_no_character(char32_t value) noexcept { return (value >= 0xD800 && value <= 0xDFFF) || value > 0x10FFFF; }

// Takes one character off the front; one byte of malformed input gives one replacement.
char32_t take_character(std::string_view& text) noexcept {
  const auto lead = static_cast<unsigned char>(text.front());
  const int length = sequence_length(lead);
  constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  char32_t glyph = length == 1 ? lead : lead & (0x7F >> length);
  bool well_formed = length > 0 && text.size() >= static_cast<std::size_t>(length);
  for (int i = 1; well_formed && i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[static_cast<std::size_t>(i)]);
    well_formed = (next & 0xC0) == 0x80;
    glyph = glyph << 6 | (next & 0x3F);
  }
  if (!well_formed || glyph < smallest[length] || is_no_character(glyph)) {
    text.remove_prefix(1);
    return replacement;
  }
  text.remove_prefix(static_cast<std::size_t>(length));
  return glyph;
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

/// Most text is: then nothing has to be decoded or looked up.
bool is_plain_ascii(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char each) { return each >= 0x20 && each < 0x7F; });
}

}  // namespace

std::u32string displayable(std::string_view utf8) {
  if (is_plain_ascii(utf8)) return {utf8.begin(), utf8.end()};
  std::u32string text;
  text.reserve(utf8.size());
  while (!utf8.empty()) {
    const char32_t glyph = take_character(utf8);
    text.push_back(is_in(hidden_ranges, glyph) ? replacement : glyph);
  }
  return text;
}

std::string well_formed(std::string_view utf8) {
  std::string text;
  text.reserve(utf8.size());
  while (!utf8.empty()) append_utf8(text, take_character(utf8));
  return text;
}

int places(char32_t glyph) noexcept { return glyph >= wide_ranges[0].first && is_in(wide_ranges, glyph) ? 2 : 1; }

int places(std::string_view utf8) {
  if (is_plain_ascii(utf8)) return static_cast<int>(utf8.size());
  int total = 0;
  for (const char32_t glyph : displayable(utf8)) total += places(glyph);
  return total;
}

std::string to_utf8(std::u32string_view text) {
  std::string utf8;
  for (const char32_t glyph : text) append_utf8(utf8, glyph);
  return utf8;
}

std::string printable(std::string_view utf8) { return to_utf8(displayable(utf8)); }

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  std::size_t kept = most;
  // Does not cut within a character, which has at most three continuation bytes.
  while (kept > 0 && kept + 3 > most && (static_cast<unsigned char>(text[kept]) & 0xC0) == 0x80) --kept;
  return std::string(text.substr(0, kept)) + "... (" + std::to_string(text.size()) + " bytes)";
}

void append_to_list(std::string& list, std::string_view item) {
  if (!list.empty()) list += ", ";
  list += item;
}

std::string hexadecimal(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string short_duration(std::chrono::milliseconds duration) {
  const long long ms = std::max<long long>(duration.count(), 0);
  const long long seconds = ms / 1000;
  char text[48];
  if (ms < 1000) {
    std::snprintf(text, sizeof text, "%lld ms", ms);
  } else if (seconds < 10) {
    std::snprintf(text, sizeof text, "%lld.%lld s", seconds, ms % 1000 / 100);
  } else if (seconds < 60) {
    std::snprintf(text, sizeof text, "%lld s", seconds);
  } else if (seconds < 3600) {
    std::snprintf(text, sizeof text, "%lldm %02llds", seconds / 60, seconds % 60);
  } else {
    std::snprintf(text, sizeof text, "%lldh %02lldm", seconds / 3600, seconds % 3600 / 60);
  }
  return text;
}

}  // namespace zkadmin
