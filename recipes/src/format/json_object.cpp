#include "format/json_object.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

namespace zkrecipes::detail {

namespace json = boost::json;

namespace {

constexpr std::string_view mark = "zkrecipes";

json::string_view to_json(std::string_view text) { return {text.data(), text.size()}; }

/// Whether a number in it is too large for a double: it could not be written so that it can be read again.
bool has_infinite(const json::value& value) {
  const auto is_infinite = [](const json::value& each) { return has_infinite(each); };
  if (const auto* number = value.if_double()) return !std::isfinite(*number);
  if (const auto* array = value.if_array()) return std::any_of(array->begin(), array->end(), is_infinite);
  const auto* object = value.if_object();
  return object &&
         std::any_of(object->begin(), object->end(), [](const auto& each) { return has_infinite(each.value()); });
}

std::optional<json::value> parse_value(std::string_view text, encoding allowed) {
  boost::system::error_code error;
  json::parse_options options;
  options.allow_invalid_utf8 = allowed == encoding::any;
  auto value = json::parse(to_json(text), error, {}, options);
  return error || has_infinite(value) ? std::nullopt : std::optional(std::move(value));
}

/// A number that has exactly this type's value; nothing for 7.5, for "7", and beyond the bounds of the type.
template <class Number>
std::optional<Number> exact(const json::value& value) {
  boost::system::error_code error;
  const auto number = value.to_number<Number>(error);
  return error ? std::nullopt : std::optional(number);
}

std::optional<std::string> exact_text(const json::value& value) {
  return value.is_string() ? std::optional(std::string(value.get_string())) : std::nullopt;
}

/// All elements of an array; nothing if it is no array, or if one of them is of another type.
template <class Element>
std::optional<std::vector<Element>> all_of(const json::value* value,
                                           std::optional<Element> (*read)(const json::value&)) {
  if (!value || !value->is_array()) return std::nullopt;
  std::vector<Element> all;
  for (const auto& each : value->get_array()) {
    auto element = read(each);
    if (!element) return std::nullopt;
    all.push_back(std::move(*element));
  }
  return all;
}

}  // namespace

json_object json_object::of_kind(std::string_view kind) { return std::move(json_object().set(mark, kind)); }

std::optional<json_object> json_object::parse(std::string_view text, encoding allowed) {
  auto value = parse_value(text, allowed);
  if (!value || !value->is_object()) return std::nullopt;
  return json_object(std::move(value->get_object()));
}

bool json_object::is(std::string_view kind) const { return text(mark) == kind; }
bool json_object::is_marked() const { return has(mark); }

const json::value* json_object::find(std::string_view name) const { return fields_.if_contains(to_json(name)); }

std::vector<std::string> json_object::names() const {
  std::vector<std::string> all;
  for (const auto& each : fields_) all.emplace_back(each.key());
  return all;
}

std::optional<std::string> json_object::text(std::string_view name) const {
  const auto* value = find(name);
  return value ? exact_text(*value) : std::nullopt;
}

std::optional<std::int64_t> json_object::integer(std::string_view name, std::int64_t smallest,
                                                 std::int64_t largest) const {
  const auto* value = find(name);
  const auto number = value ? exact<std::int64_t>(*value) : std::nullopt;
  return number && *number >= smallest && *number <= largest ? number : std::nullopt;
}

std::optional<std::chrono::milliseconds> json_object::time(std::string_view name,
                                                           std::chrono::milliseconds longest) const {
  const auto number = integer(name, 0, longest.count());
  return number ? std::optional(std::chrono::milliseconds(*number)) : std::nullopt;
}

std::optional<bool> json_object::flag(std::string_view name) const {
  const auto* value = find(name);
  return value && value->is_bool() ? std::optional(value->get_bool()) : std::nullopt;
}

std::optional<std::vector<std::string>> json_object::texts(std::string_view name) const {
  return all_of<std::string>(find(name), &exact_text);
}

std::optional<std::vector<std::int32_t>> json_object::integers(std::string_view name) const {
  return all_of<std::int32_t>(find(name), &exact<std::int32_t>);
}

std::optional<json_object> json_object::object(std::string_view name) const {
  const auto* value = find(name);
  return value && value->is_object() ? std::optional(json_object(value->get_object())) : std::nullopt;
}

std::string json_object::raw(std::string_view name) const {
  const auto* value = find(name);
  return value ? json::serialize(*value) : std::string();
}

json_object& json_object::set(std::string_view name, std::string_view value) {
  fields_[to_json(name)] = to_json(value);
  return *this;
}

json_object& json_object::set(std::string_view name, std::int64_t value) {
  fields_[to_json(name)] = value;
  return *this;
}

json_object& json_object::set(std::string_view name, const std::vector<std::string>& values) {
  fields_[to_json(name)] = json::array(values.begin(), values.end());
  return *this;
}

json_object& json_object::set(std::string_view name, const std::vector<std::int32_t>& values) {
  fields_[to_json(name)] = json::array(values.begin(), values.end());
  return *this;
}

json_object& json_object::set(std::string_view name, const json_object& value) {
  fields_[to_json(name)] = value.fields_;
  return *this;
}

json_object& json_object::set_flag(std::string_view name, bool value) {
  fields_[to_json(name)] = value;
  return *this;
}

json_object& json_object::set_null(std::string_view name) {
  fields_[to_json(name)] = nullptr;
  return *this;
}

bool json_object::set_raw(std::string_view name, std::string_view value) {
  auto parsed = parse_value(value, encoding::utf8);
  if (!parsed) return false;
  fields_[to_json(name)] = std::move(*parsed);
  return true;
}

json_object& json_object::erase(std::string_view name) {
  fields_.erase(to_json(name));
  return *this;
}

json_object& json_object::drop_nulls() {
  for (auto each = fields_.begin(); each != fields_.end();) {
    each = each->value().is_null() ? fields_.erase(each) : std::next(each);
  }
  return *this;
}

json_object json_object::without(std::initializer_list<std::string_view> known) const {
  json_object rest;
  for (const auto& [name, value] : fields_) {
    const std::string_view present(name.data(), name.size());
    if (present != mark && std::find(known.begin(), known.end(), present) == known.end()) {
      rest.fields_.emplace(name, value);
    }
  }
  return rest;
}

json_object& json_object::add(const json_object& more) {
  for (const auto& [name, value] : more.fields_) fields_.emplace(name, value);  // does nothing if the field is there
  return *this;
}

std::string json_object::to_text() const { return json::serialize(fields_); }

}  // namespace zkrecipes::detail
