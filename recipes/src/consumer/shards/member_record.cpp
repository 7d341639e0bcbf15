#include "shards/member_record.hpp"

#include <string_view>
#include <utility>

namespace zkrecipes::detail {

namespace {

constexpr std::string_view member_kind = "shard_member";
constexpr std::string_view away_kind = "shard_away";
constexpr std::int64_t most_capacity = 1'000'000;
constexpr std::chrono::hours longest_grace(24);

/// A field that is missing is an empty set. \throws std::bad_optional_access
shard_set set_of(const json_object& object, std::string_view field) {
  if (!object.has(field)) return {};
  return shard_set::parse(object.text(field).value()).value();
}

std::uint32_t capacity_of(const json_object& object) {
  return static_cast<std::uint32_t>(object.integer("capacity", 0, most_capacity).value());
}

}  // namespace

std::string serialize(const member_record& record) {
  auto object = json_object::of_kind(member_kind);
  object.set("id", record.id).set("capacity", std::int64_t(record.capacity));
  object.set("state", record.is_draining ? "draining" : "active").set("grace_ms", record.grace.count());
  if (!record.failing.empty()) object.set("failing", record.failing);
  if (!record.data.empty()) object.set("data", record.data);
  const auto& orders = record.orders;
  if (orders.plan) object.set("plan", orders.plan);
  if (!orders.own.empty()) object.set("own", orders.own.to_text());
  if (!orders.expect.empty()) object.set("expect", orders.expect.to_text());
  if (!orders.gone.empty()) object.set("gone", orders.gone);
  if (orders.returns) object.set("returns", orders.returns);
  return object.add(record.unknown_fields).to_text();
}

std::optional<member_record> parse_member_record(const std::string& data) try {
  const auto object = json_object::parse(data);
  if (!object || !object->is(member_kind)) return std::nullopt;
  member_record record;
  record.id = object->text("id").value();
  record.capacity = capacity_of(*object);
  record.is_draining = object->text("state") == "draining";
  record.grace = object->time("grace_ms", longest_grace).value_or(std::chrono::milliseconds(0));
  record.data = object->text("data").value_or(std::string());
  record.orders.plan = object->integer("plan", 0, last_plan).value_or(0);
  record.orders.own = set_of(*object, "own");
  record.orders.expect = set_of(*object, "expect");
  record.orders.gone = object->texts("gone").value_or(std::vector<std::string>());
  record.orders.returns = object->integer("returns", 0).value_or(0);
  record.failing = object->text("failing").value_or(std::string());
  record.unknown_fields = object->without(
      {"id", "capacity", "state", "failing", "grace_ms", "data", "plan", "own", "expect", "gone", "returns"});
  return record;
} catch (const std::bad_optional_access&) {  // a field is missing, has another type, or is out of bounds
  return std::nullopt;
}

std::string serialize(const away_record& record) {
  auto object = json_object::of_kind(away_kind);
  object.set("id", record.id).set("node", record.node);
  object.set("capacity", std::int64_t(record.capacity)).set("grace_ms", record.grace.count());
  return object.set("own", record.own.to_text()).to_text();
}

std::optional<away_record> parse_away_record(const std::string& data) try {
  const auto object = json_object::parse(data);
  if (!object || !object->is(away_kind)) return std::nullopt;
  away_record record;
  record.id = object->text("id").value();
  record.capacity = capacity_of(*object);
  record.grace = object->time("grace_ms", longest_grace).value();
  record.own = set_of(*object, "own");
  record.node = object->text("node").value_or(std::string());
  return record;
} catch (const std::bad_optional_access&) {
  return std::nullopt;
}

}  // namespace zkrecipes::detail
