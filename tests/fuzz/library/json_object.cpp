// JSON: what was read is written as a text that reads the same.
#include "format/json_object.hpp"

#include "fuzz/target.hpp"

namespace fuzz::json_object_target {

using zkrecipes::detail::encoding;
using zkrecipes::detail::json_object;

void require_fields(const json_object& object) {
  for (const auto& name : object.names()) {
    const auto number = object.integer(name, -5, 1'000);
    require(!number || (*number >= -5 && *number <= 1'000), "a number is in its bounds");
    const auto time = object.time(name, std::chrono::hours(1));
    require(!time || (time->count() >= 0 && *time <= std::chrono::hours(1)), "a time is in its bounds");
    require(object.has(name) && !object.raw(name).empty(), "each name has a value");
    object.text(name), object.flag(name), object.texts(name), object.integers(name), object.object(name);
  }
}

/// A later version carries the fields that it does not know.
void require_kept(const json_object& object) {
  const auto next = json_object().add(object.without({"a"}));
  for (const auto& name : next.names()) require(next.raw(name) == object.raw(name), "an unknown field is kept");
}

void require_copy(const json_object& object) {
  json_object copy;
  for (const auto& name : object.names()) {
    const bool is_set = copy.set_raw(name, object.raw(name));
    require(is_set, "a value can be set as it was told");
  }
  require(copy == object, "an object made of all values is the same");
}

void read_json(std::string_view input) {
  const auto any = json_object::parse(input);
  if (any) {
    require_fields(*any);
    const auto text = any->to_text();
    const auto again = json_object::parse(text);
    require(again == any, "what was written reads the same");
    require(again->to_text() == text, "what was read is written the same");
    require_kept(*any);
    auto less = *any;
    less.drop_nulls().without({"id", "epoch"});
  }
  const auto strict = json_object::parse(input, encoding::utf8);
  require(!strict || strict == any, "a text of UTF-8 is the same object for both readers");
  if (strict) require_copy(*strict);
}

const target known("json_object", read_json);

}  // namespace fuzz::json_object_target
