#include "balance/pace_record.hpp"

#include <string_view>

#include "balance/largest_range.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::string_view limit_kind = "shared_balance";
constexpr std::string_view member_kind = "shared_balance_member";
constexpr std::int64_t largest_steps = std::int64_t{1} << 53;

}  // namespace

std::string serialize(const limit_record& record) {
  auto text = json_object::of_kind(limit_kind);
  text.set("range", record.range).set("limit", record.limit);
  return text.add(record.unknown_fields).to_text();
}

std::optional<limit_record> parse_limit_record(const std::string& data) {
  const auto read = json_object::parse(data);
  if (!read || !read->is(limit_kind)) return std::nullopt;
  const auto range = read->integer("range", 1, largest_range);
  if (!range) return std::nullopt;
  const auto limit = read->integer("limit", *range, largest_steps);
  if (!limit) return std::nullopt;
  return limit_record{*range, *limit, read->without({"range", "limit"})};
}

std::string serialize(const pace_member_record& record) {
  auto text = json_object::of_kind(member_kind);
  text.set("id", record.id);
  if (record.floor) text.set("floor", *record.floor);
  return text.to_text();
}

std::optional<pace_member_record> parse_pace_member_record(const std::string& data) {
  const auto read = json_object::parse(data);
  if (!read || !read->is(member_kind)) return std::nullopt;
  const auto id = read->text("id");
  if (!id) return std::nullopt;
  pace_member_record record{*id, std::nullopt};
  if (!read->has("floor")) return record;
  record.floor = read->integer("floor", 0, largest_steps);
  if (!record.floor) return std::nullopt;
  return record;
}

}  // namespace zkrecipes::detail
