#include "once/once_record.hpp"

#include <string_view>

namespace zkrecipes::detail {

namespace {

constexpr std::string_view intent_kind = "once_intent";
constexpr std::string_view period_kind = "once_per";
constexpr std::int64_t shortest_period_ms = 1'000;

std::optional<std::chrono::milliseconds> read_span(const json_object& record) {
  const auto ms = record.integer("per_ms", shortest_period_ms);
  return ms ? std::optional(std::chrono::milliseconds(*ms)) : std::nullopt;
}

}  // namespace

std::string serialize(const once_record& record) {
  auto text = json_object::of_kind(intent_kind);
  text.set("key", record.key).set("id", record.id).set("guid", record.guid);
  if (!record.note.empty()) text.set("note", record.note);
  if (record.is_withdrawn) text.set_flag("withdrawn", true);
  return text.add(record.unknown_fields).to_text();
}

std::optional<once_record> parse_once_record(const std::string& data) {
  const auto read = json_object::parse(data);
  if (!read || !read->is(intent_kind)) return std::nullopt;
  const auto key = read->text("key");
  const auto id = read->text("id");
  const auto guid = read->text("guid");
  if (!key || !id || !guid) return std::nullopt;
  return once_record{*key,
                     *id,
                     *guid,
                     read->text("note").value_or(""),
                     read->flag("withdrawn").value_or(false),
                     read->without({"key", "id", "guid", "note", "withdrawn"})};
}

std::string serialize_period(std::chrono::milliseconds per) {
  return json_object::of_kind(period_kind).set("per_ms", static_cast<std::int64_t>(per.count())).to_text();
}

std::optional<std::chrono::milliseconds> parse_period(const std::string& data) {
  const auto read = json_object::parse(data);
  return read && read->is(period_kind) ? read_span(*read) : std::nullopt;
}

}  // namespace zkrecipes::detail
