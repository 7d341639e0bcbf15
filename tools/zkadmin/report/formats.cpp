#include "report/formats.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string_view>

#include <boost/json/serialize.hpp>

#include "base/text.hpp"
#include "format/shown_text.hpp"

namespace zkadmin {

std::string printed(table content) {
  constexpr std::size_t most_of_a_cell = 1'000;
  for (auto& row : content.rows)
    for (auto& each : row) each.text = shortened(each.text, most_of_a_cell);
  measure(content);
  const int width = natural_width(content);
  const auto columns = place_columns(content, 0, width);
  grid titles(width, 1);
  draw_titles(titles, 0, content, columns);
  auto text = titles.to_text();
  for (const auto& each : content.rows) {
    grid line(width, 1);
    draw_row(line, 0, content, each, columns);
    text += line.to_text();
  }
  return text;
}

std::string block(const table& content) { return content.rows.empty() ? "" : "\n" + printed(content); }

std::string utc_time(std::int64_t ms) {
  const auto seconds = static_cast<std::time_t>(ms / 1000);
  std::tm parts{};
  std::array<char, 64> text{};
  if (!::gmtime_r(&seconds, &parts) || std::strftime(text.data(), text.size(), "%F %T UTC", &parts) == 0) return "?";
  return text.data();
}

std::string progress_line(std::chrono::milliseconds at, const std::string& state, const std::string& who) {
  constexpr std::size_t time_width = 9, state_width = 12;
  const std::string time = "+" + short_duration(at);
  const std::string lead(time.size() < time_width ? time_width - time.size() : 0, ' ');
  const std::string gap(state.size() < state_width ? state_width - state.size() : 0, ' ');
  return lead + time + "  " + state + gap + "  " + who + "\n";
}

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

namespace {

std::string escaped(std::string_view field) {
  constexpr std::string_view plain = "\t\n\r\\";
  constexpr std::string_view letters = "tnr\\";
  std::string text;
  for (auto at = field.find_first_of(plain); at != field.npos; at = field.find_first_of(plain)) {
    text += zkrecipes::detail::coded_text(field.substr(0, at));
    text += {'\\', letters[plain.find(field[at])]};
    field.remove_prefix(at + 1);
  }
  return text + zkrecipes::detail::coded_text(field);
}

}  // namespace

std::string line_of(std::initializer_list<std::string> fields) {
  std::string text;
  for (const auto& each : fields) text += escaped(each) + "\t";
  if (!text.empty()) text.pop_back();
  return text + "\n";
}

boost::json::value plain_number(double value) {
  const auto whole = static_cast<std::int64_t>(std::clamp(value, -1e15, 1e15));
  return static_cast<double>(whole) == value ? boost::json::value(whole) : boost::json::value(value);
}

std::string json_line(const boost::json::object& document) {
  return zkrecipes::detail::coded_json(boost::json::serialize(document)) + "\n";
}

boost::json::array text_array(const std::vector<std::string>& texts) {
  return array_of(texts, [](const auto& each) { return boost::json::value(well_formed(each)); });
}

boost::json::array note_array(const std::vector<survey_note>& notes) {
  return array_of(notes, [](const survey_note& each) {
    return boost::json::object{{"path", well_formed(each.path)}, {"text", well_formed(each.text)}};
  });
}

std::string note_lines(const std::vector<survey_note>& notes) {
  std::string text;
  for (const auto& each : notes) text += tsv_line("note", each.path, each.text);
  return text;
}

}  // namespace zkadmin
