#include "report/encoding.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "text.hpp"

namespace zkadmin {
namespace {

constexpr std::size_t bytes_per_line = 16;

bool is_control(unsigned char c) noexcept { return (c < 0x20 && c != '\n' && c != '\t' && c != '\r') || c == 0x7f; }

std::string hex_line(std::size_t offset, std::string_view bytes) {
  char number[24];
  std::snprintf(number, sizeof number, "%08zx ", offset);
  std::string text = number, shown;
  for (std::size_t i = 0; i < bytes_per_line; ++i) {
    if (i % 8 == 0) text += ' ';
    if (i >= bytes.size()) {
      text += "   ";
      continue;
    }
    const auto byte = static_cast<unsigned char>(bytes[i]);
    std::snprintf(number, sizeof number, "%02x ", byte);
    text += number;
    shown += byte >= 0x20 && byte < 0x7f ? bytes[i] : '.';
  }
  return text + " |" + shown + "|\n";
}

}  // namespace

bool is_utf8(std::string_view data) { return well_formed(data) == data; }

bool is_showable(std::string_view data) {
  const auto hidden = [](char c) { return is_control(static_cast<unsigned char>(c)); };
  return is_utf8(data) && std::none_of(data.begin(), data.end(), hidden);
}

std::string base64(std::string_view data) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((data.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < data.size(); i += 3) {
    const auto byte = [&](std::size_t at) { return at < data.size() ? static_cast<unsigned char>(data[at]) : 0u; };
    const auto group = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    for (std::size_t k = 0; k < 4; ++k) text += i + k > data.size() ? '=' : digits[group >> (18 - 6 * k) & 63];
  }
  return text;
}

std::string hex_dump(std::string_view data) {
  std::string text;
  for (std::size_t i = 0; i < data.size(); i += bytes_per_line) text += hex_line(i, data.substr(i, bytes_per_line));
  return text;
}

std::string utc_timestamp(std::int64_t ms) {
  const auto seconds = static_cast<std::time_t>(ms / 1000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[80];
  const auto length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text + length, sizeof text - length, ".%03dZ", static_cast<int>(ms % 1000));
  return text;
}

}  // namespace zkadmin
