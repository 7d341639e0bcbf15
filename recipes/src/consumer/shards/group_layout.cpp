#include "shards/group_layout.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "format/json_object.hpp"

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

namespace {

constexpr std::string_view pin_kind = "shard_pin";

}  // namespace

void operator_notes::add(const std::string& name, const std::string& data) {
  if (name.starts_with(drain_prefix)) {
    auto id = group_layout::id_of(std::string_view(name).substr(drain_prefix.size()));
    if (id) drains.insert(std::move(*id));
  }
  if (name.starts_with(pin_prefix)) {
    const auto shard = parse_shard_name(std::string_view(name).substr(pin_prefix.size()));
    auto id = read_pin(data);
    if (shard && id) pins[*shard] = std::move(*id);
  }
}

std::string write_pin(const std::string& id) { return json_object::of_kind(pin_kind).set("member", id).to_text(); }

std::optional<std::string> read_pin(const std::string& data) {
  const auto object = json_object::parse(data);
  return object && object->is(pin_kind) ? object->text("member") : std::nullopt;
}

namespace {

constexpr std::string_view group_kind = "shards";
constexpr std::string_view hash_name = "crc32";
const std::string_view member_markers[] = {"member-"};

}  // namespace

line_spec group_layout::line() const {
  line_spec all{members(), "member-", member_markers};
  all.one_by_one = true;
  return all;
}

std::string group_layout::file_name(const std::string& id) {
  std::string name;
  const bool has_only_dots = id.find_first_not_of('.') == id.npos;
  for (const char each : id) {
    const auto byte = static_cast<unsigned char>(each);
    const bool is_plain = byte > 0x20 && byte < 0x7f && each != '/' && each != '%' && !(each == '.' && has_only_dots);
    if (is_plain) {
      name += each;
    } else {
      constexpr std::string_view digits = "0123456789ABCDEF";
      name += {'%', digits[byte / 16], digits[byte % 16]};
    }
  }
  return name;
}

std::optional<std::string> group_layout::id_of(std::string_view name) {
  std::string id;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '%') {
      id += name[i];
      continue;
    }
    unsigned char byte = 0;
    const auto* const digits = name.data() + i + 1;
    const bool is_whole = i + 2 < name.size();
    if (!is_whole || std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) return std::nullopt;
    id += static_cast<char>(byte);
    i += 2;
  }
  return file_name(id) == name ? std::optional(std::move(id)) : std::nullopt;
}

std::string group_data(std::uint32_t shards) {
  return json_object::of_kind(group_kind).set("count", std::int64_t(shards)).set("hash", hash_name).to_text();
}

group_size read_group_data(const std::string& data) {
  const auto object = json_object::parse(data);
  if (!object || !object->is(group_kind) || object->text("hash") != hash_name) return {};
  const auto count = object->integer("count", 1, most_shards);
  return {count.has_value(), static_cast<std::uint32_t>(count.value_or(0))};
}

}  // namespace zkrecipes::detail
