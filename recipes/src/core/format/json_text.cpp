#include "format/json_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <system_error>

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>

#include "format/json_blank.hpp"

namespace zkrecipes::detail {

namespace json = boost::json;

namespace {

json::parse_options options_for(encoding allowed) {
  json::parse_options options;
  options.allow_invalid_utf8 = allowed == encoding::any;
  return options;
}

/// Takes the events of Boost.JSON's parser, and keeps nothing of them.
struct ignoring_handler {
  using error = boost::system::error_code;
  static constexpr std::size_t max_array_size = json::string::max_size();
  static constexpr std::size_t max_object_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();

  bool on_document_begin(error&) { return true; }
  bool on_document_end(error&) { return true; }
  bool on_array_begin(error&) { return true; }
  bool on_array_end(std::size_t, error&) { return true; }
  bool on_object_begin(error&) { return true; }
  bool on_object_end(std::size_t, error&) { return true; }
  bool on_string_part(json::string_view, std::size_t, error&) { return true; }
  bool on_string(json::string_view, std::size_t, error&) { return true; }
  bool on_key_part(json::string_view, std::size_t, error&) { return true; }
  bool on_key(json::string_view, std::size_t, error&) { return true; }
  bool on_number_part(json::string_view, error&) { return true; }
  bool on_int64(std::int64_t, json::string_view, error&) { return true; }
  bool on_uint64(std::uint64_t, json::string_view, error&) { return true; }
  bool on_double(double, json::string_view, error&) { return true; }
  bool on_bool(bool, error&) { return true; }
  bool on_null(error&) { return true; }
  bool on_comment_part(json::string_view, error&) { return true; }
  bool on_comment(json::string_view, error&) { return true; }
};

constexpr std::size_t word_size = sizeof(std::uint64_t);

/// Whether one of the eight bytes is this one. The subtraction borrows from the top bit of a byte only if it is zero.
bool has_byte(std::uint64_t word, unsigned char byte) {
  constexpr std::uint64_t ones = 0x0101010101010101;
  const auto others = word ^ (ones * byte);
  return ((others - ones) & ~others & (ones << 7)) != 0;
}

/// Whether one of these eight bytes ends a string, or escapes the next one.
bool has_special(const char* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, word_size);
  return has_byte(word, '"') || has_byte(word, '\\');
}

bool needs_escape(char each) { return static_cast<unsigned char>(each) < 0x20 || each == '"' || each == '\\'; }

void append_escaped(std::string& text, char each) {
  constexpr std::string_view plain = "\"\\\b\f\n\r\t";
  constexpr std::string_view letters = "\"\\bfnrt";
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(each);
  if (const auto place = plain.find(each); place != plain.npos) {
    text += {'\\', letters[place]};
  } else {
    text.append("\\u00").append({digits[byte / 16], digits[byte % 16]});
  }
}

/// Boost.JSON 1.81 reads some doubles inexactly; std::from_chars does not.
std::optional<std::int64_t> whole_double(std::string_view json) {
  constexpr double beyond = 9223372036854775808.0;  // 2^63
  double value = 0;
  const auto [end, error] = std::from_chars(json.data(), json.data() + json.size(), value);
  const bool is_whole = error == std::errc() && end == json.data() + json.size() && std::trunc(value) == value;
  if (!is_whole || value < -beyond || value >= beyond) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

}  // namespace

bool is_json(std::string_view text, encoding allowed) {
  json::basic_parser<ignoring_handler> parser(options_for(allowed));
  boost::system::error_code error;
  const auto read = parser.write_some(false, text.data(), text.size(), error);
  return !error && read == text.size();
}

std::size_t end_of_string(std::string_view json, std::size_t at) {
  for (++at;; at += 2) {
    while (at + word_size <= json.size() && !has_special(json.data() + at)) at += word_size;
    while (json[at] != '"' && json[at] != '\\') ++at;
    if (json[at] == '"') return at + 1;
  }
}

std::string without_blanks(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (std::size_t at = 0; at < json.size();) {
    const auto begin = at;
    at = json[at] == '"' ? end_of_string(json, at) : at + 1;
    if (!is_blank(json[begin])) text.append(json, begin, at - begin);
  }
  return text;
}

void append_quoted(std::string& text, std::string_view bytes) {
  text += '"';
  for (auto begin = bytes.begin(); begin != bytes.end();) {
    const auto end = std::find_if(begin, bytes.end(), needs_escape);
    text.append(begin, end);
    begin = end;
    if (begin != bytes.end()) append_escaped(text, *begin++);
  }
  text += '"';
}

std::optional<std::string> unquoted(std::string_view json) {
  if (!json.starts_with('"')) return std::nullopt;
  const auto inner = json.substr(1, json.size() - 2);
  if (inner.find('\\') == inner.npos) return std::string(inner);
  boost::system::error_code error;
  const auto value = json::parse({json.data(), json.size()}, error, {}, options_for(encoding::any));
  return error ? std::nullopt : std::optional(std::string(value.get_string()));
}

std::optional<std::int64_t> whole_number(std::string_view json) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(json.data(), json.data() + json.size(), value);
  if (error == std::errc::invalid_argument) return std::nullopt;  // no number
  if (end != json.data() + json.size()) return whole_double(json);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

}  // namespace zkrecipes::detail
