#include "format/json_object.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>

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

const std::string* json_fields::find(std::string_view name) const {
  const auto place = place_of(name);
  return place < all_.size() ? &all_[place].value : nullptr;
}

void json_fields::put(std::string_view name, std::string value) {
  const auto place = place_of(name);
  if (place < all_.size()) {
    all_[place].value = std::move(value);
  } else {
    append(name, std::move(value));
  }
}

void json_fields::add(const field& one) {
  if (!find(one.name)) append(one.name, one.value);
}

bool operator==(const json_fields& one, const json_fields& other) {
  const auto has = [&other](const json_fields::field& each) {
    const auto* value = other.find(each.name);
    return value && *value == each.value;
  };
  return one.all_.size() == other.all_.size() && std::all_of(one.begin(), one.end(), has);
}

/// The number of fields if there is none of this name.
std::size_t json_fields::place_of(std::string_view name) const {
  if (places_.empty()) {
    const auto is_it = [name](const field& each) { return each.name == name; };
    return static_cast<std::size_t>(std::find_if(all_.begin(), all_.end(), is_it) - all_.begin());
  }
  const auto found = places_.find(std::string(name));
  return found != places_.end() ? found->second : all_.size();
}

void json_fields::append(std::string_view name, std::string value) {
  all_.push_back({std::string(name), std::move(value)});
  if (!places_.empty()) {
    places_.emplace(name, all_.size() - 1);
  } else if (all_.size() > most_without_index) {
    rebuild_index();
  }
}

void json_fields::rebuild_index() {
  places_.clear();
  if (all_.size() <= most_without_index) return;
  for (std::size_t i = 0; i < all_.size(); ++i) places_.emplace(all_[i].name, i);
}

/// Goes through the text of an object or of an array, which has to be JSON (is_json). Keeps no copy of it.
class json_parts {
 public:
  explicit json_parts(std::string_view text);

  /// Goes to the next part; false behind the last one. The first call goes to the first part.
  bool next();

  /// The name of a member; empty in an array. Valid until the next part.
  std::string_view name() const { return name_; }
  /// The part's value, as it is written.
  std::string_view value() const { return value_; }
  /// Whether there are blanks between the tokens of the value.
  bool has_blanks() const { return has_blanks_; }

 private:
  void skip_blanks();
  void read_name();
  void read_value();

  std::string_view text_;
  std::size_t at_ = 0;
  bool has_names_ = false;
  std::string_view name_;
  std::string unescaped_;  ///< What the name refers to if it is written with escapes.
  std::string_view value_;
  bool has_blanks_ = false;
};

namespace {

/// A value ends before the comma or bracket of what is around it, or before a blank.
bool ends_value(char each) { return each == ',' || each == ']' || each == '}' || is_blank(each); }

}  // namespace

json_parts::json_parts(std::string_view text) : text_(text) {
  skip_blanks();
  has_names_ = text_[at_] == '{';
  ++at_;
}

bool json_parts::next() {
  skip_blanks();
  if (text_[at_] == ']' || text_[at_] == '}') return false;
  if (text_[at_] == ',') ++at_, skip_blanks();
  if (has_names_) read_name();
  read_value();
  return true;
}

void json_parts::skip_blanks() {
  while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
}

void json_parts::read_name() {
  const auto begin = at_;
  at_ = end_of_string(text_, at_);
  name_ = text_.substr(begin + 1, at_ - begin - 2);
  if (name_.find('\\') != name_.npos) name_ = unescaped_ = unquoted(text_.substr(begin, at_ - begin)).value();
  skip_blanks();
  ++at_;  // the colon
  skip_blanks();
}

void json_parts::read_value() {
  const auto begin = at_;
  int depth = 0;
  has_blanks_ = false;
  do {
    const char each = text_[at_];
    at_ = each == '"' ? end_of_string(text_, at_) : at_ + 1;
    depth += (each == '{' || each == '[') - (each == '}' || each == ']');
    has_blanks_ |= is_blank(each);
  } while (depth > 0 || !ends_value(text_[at_]));
  value_ = text_.substr(begin, at_ - begin);
}

namespace {

constexpr std::string_view mark = "zkrecipes";
constexpr std::string_view null = "null";

std::optional<std::int32_t> small_number(std::string_view value) {
  const auto number = whole_number(value);
  const bool fits = number && *number == static_cast<std::int32_t>(*number);
  return fits ? std::optional(static_cast<std::int32_t>(*number)) : std::nullopt;
}

/// All elements of an array; nothing if it is no array, or if one of them is of another type.
template <class Element>
std::optional<std::vector<Element>> all_of(std::string_view array, std::optional<Element> (*read)(std::string_view)) {
  if (!array.starts_with('[')) return std::nullopt;
  std::vector<Element> all;
  for (json_parts parts(array); parts.next();) {
    auto element = read(parts.value());
    if (!element) return std::nullopt;
    all.push_back(std::move(*element));
  }
  return all;
}

std::optional<std::string> any_element(std::string_view value) { return std::string(value); }

/// The array of these values.
template <class Values, class Append>
std::string array_of(const Values& values, Append append) {
  std::string text = "[";
  for (const auto& each : values) {
    if (text.size() > 1) text += ',';
    append(text, each);
  }
  return text += ']';
}

std::string quoted(std::string_view bytes) {
  std::string text;
  append_quoted(text, bytes);
  return text;
}

}  // namespace

json_object::json_object(std::string_view text) {
  fields_.reserve(8);
  for (json_parts parts(text); parts.next();)
    fields_.put(parts.name(), parts.has_blanks() ? without_blanks(parts.value()) : std::string(parts.value()));
}

json_object json_object::of_kind(std::string_view kind) { return std::move(json_object().set(mark, kind)); }

std::optional<json_object> json_object::parse(std::string_view text, encoding allowed) {
  if (!is_json(text, allowed)) return std::nullopt;
  text.remove_prefix(text.find_first_not_of(" \n\t\r"));
  return text.front() == '{' ? std::optional(json_object(text)) : std::nullopt;
}

bool json_object::is(std::string_view kind) const { return text(mark) == kind; }
bool json_object::is_marked() const { return has(mark); }

std::string_view json_object::find(std::string_view name) const {
  const auto* value = fields_.find(name);
  return value ? std::string_view(*value) : std::string_view();
}

json_object& json_object::put(std::string_view name, std::string value) {
  fields_.put(name, std::move(value));
  return *this;
}

std::vector<std::string> json_object::names() const {
  std::vector<std::string> all;
  for (const auto& each : fields_) all.push_back(each.name);
  return all;
}

std::optional<std::string> json_object::text(std::string_view name) const { return unquoted(find(name)); }

std::optional<std::int64_t> json_object::integer(std::string_view name, std::int64_t smallest,
                                                 std::int64_t largest) const {
  const auto number = whole_number(find(name));
  return number && *number >= smallest && *number <= largest ? number : std::nullopt;
}

std::optional<std::chrono::milliseconds> json_object::time(std::string_view name,
                                                           std::chrono::milliseconds longest) const {
  const auto number = integer(name, 0, longest.count());
  return number ? std::optional(std::chrono::milliseconds(*number)) : std::nullopt;
}

std::optional<bool> json_object::flag(std::string_view name) const {
  const auto value = find(name);
  return value == "true" || value == "false" ? std::optional(value == "true") : std::nullopt;
}

std::optional<std::vector<std::string>> json_object::texts(std::string_view name) const {
  return all_of<std::string>(find(name), &unquoted);
}

std::optional<std::vector<std::int32_t>> json_object::integers(std::string_view name) const {
  return all_of<std::int32_t>(find(name), &small_number);
}

std::optional<std::vector<std::string>> json_object::elements(std::string_view name) const {
  return all_of<std::string>(find(name), &any_element);
}

std::optional<json_object> json_object::object(std::string_view name) const {
  const auto value = find(name);
  return value.starts_with('{') ? std::optional(json_object(value)) : std::nullopt;
}

std::string json_object::raw(std::string_view name) const { return std::string(find(name)); }

json_object& json_object::set(std::string_view name, std::string_view value) { return put(name, quoted(value)); }

json_object& json_object::set(std::string_view name, std::int64_t value) { return put(name, std::to_string(value)); }

json_object& json_object::set(std::string_view name, const std::vector<std::string>& values) {
  return put(name, array_of(values, append_quoted));
}

json_object& json_object::set(std::string_view name, const std::vector<std::int32_t>& values) {
  return put(name, array_of(values, [](auto& text, std::int32_t each) { text += std::to_string(each); }));
}

json_object& json_object::set(std::string_view name, const json_object& value) { return put(name, value.to_text()); }

json_object& json_object::set_elements(std::string_view name, const std::vector<std::string>& elements) {
  return put(name, array_of(elements, [](auto& text, const auto& each) { text += each; }));
}

json_object& json_object::set_flag(std::string_view name, bool value) { return put(name, value ? "true" : "false"); }

json_object& json_object::set_null(std::string_view name) { return put(name, std::string(null)); }

bool json_object::set_raw(std::string_view name, std::string_view value) {
  if (!is_json(value, encoding::utf8)) return false;
  put(name, without_blanks(value));
  return true;
}

json_object& json_object::erase(std::string_view name) {
  fields_.erase_if([name](const auto& each) { return each.name == name; });
  return *this;
}

json_object& json_object::drop_nulls() {
  fields_.erase_if([](const auto& each) { return each.value == null; });
  return *this;
}

json_object json_object::without(std::initializer_list<std::string_view> known) const {
  json_object rest;
  for (const auto& each : fields_) {
    if (each.name != mark && std::find(known.begin(), known.end(), each.name) == known.end()) rest.fields_.add(each);
  }
  return rest;
}

json_object& json_object::add(const json_object& more) {
  for (const auto& each : more.fields_) fields_.add(each);
  return *this;
}

std::string json_object::to_text() const {
  std::size_t size = 2;
  for (const auto& each : fields_) size += each.name.size() + each.value.size() + 4;
  std::string text;
  text.reserve(size);
  text += '{';
  for (const auto& each : fields_) {
    if (text.size() > 1) text += ',';
    append_quoted(text, each.name);
    text.append(1, ':').append(each.value);
  }
  return text += '}';
}

}  // namespace zkrecipes::detail
