#include "base/text.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "format/shown_text.hpp"

namespace zkadmin {
namespace {

using zkrecipes::detail::append_utf8;
using zkrecipes::detail::is_plain_ascii;
using zkrecipes::detail::take_character;

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

}  // namespace

std::u32string displayable(std::string_view utf8) {
  if (is_plain_ascii(utf8)) return {utf8.begin(), utf8.end()};
  std::u32string text;
  text.reserve(utf8.size());
  while (!utf8.empty()) {
    const char32_t glyph = take_character(utf8);
    text.push_back(zkrecipes::detail::is_hidden(glyph) ? replacement : glyph);
  }
  return text;
}

std::string well_formed(std::string_view utf8) {
  std::string text;
  text.reserve(utf8.size());
  while (!utf8.empty()) append_utf8(text, take_character(utf8));
  return text;
}

int places(char32_t glyph) noexcept {
  if (glyph < wide_ranges[0].first) return 1;
  const auto is_in = [glyph](const range& each) { return each.first <= glyph && glyph <= each.last; };
  return std::any_of(std::begin(wide_ranges), std::end(wide_ranges), is_in) ? 2 : 1;
}

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

std::string printable(std::string_view utf8) { return zkrecipes::detail::shown_text(utf8); }

std::string printable_lines(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of("\n\t"), text.size());
    auto part = text.substr(0, end);
    if (end < text.size() && text[end] == '\n' && part.ends_with('\r')) part.remove_suffix(1);
    shown += printable(part);
    if (end < text.size()) shown += text[end];
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return shown;
}

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

std::string_view without_blanks(std::string_view text) noexcept {
  constexpr std::string_view blanks = " \t\r";
  const auto first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string counted(std::uint64_t count, const std::string& name) {
  return std::to_string(count) + " " + name + (count == 1 ? "" : "s");
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
