#include "format/json_object.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "format/json_blank.hpp"
#include "format/json_text.hpp"

namespace zkrecipes::detail {

/// The members of a JSON object, or the elements of an array, one after the other.
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
