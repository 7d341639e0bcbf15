#include "barrier/round_record.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

namespace zkrecipes::detail {

namespace {

constexpr std::string_view member_markers[] = {"-member-"};
constexpr std::string_view guid_prefix = "_c_";
constexpr std::size_t guid_length = 36;

}  // namespace

std::optional<round_member> parse_round_member(const member& of) {
  const auto& name = of.name;
  const auto size_at = guid_prefix.size() + guid_length + 1;
  if (!name.starts_with(guid_prefix) || name.size() <= size_at || name[size_at - 1] != '-') return std::nullopt;
  round_member who{name, name.substr(guid_prefix.size(), guid_length), 0, of.sequence};
  const auto* end = name.data() + name.size();
  auto [rest, error] = std::from_chars(name.data() + size_at, end, who.size);
  const bool fine = error == std::errc() && who.size > 0 && std::string_view(rest, end).starts_with(member_markers[0]);
  return fine ? std::optional(std::move(who)) : std::nullopt;
}

std::span<const std::string_view> round_markers() { return member_markers; }

std::string round_marker(int size) { return std::to_string(size).append(member_markers[0]); }

namespace {

constexpr std::string_view round_kind = "double_barrier";

}  // namespace

bool round_record::names(const round_member& who) const {
  for (std::size_t i = 0; i < members.size(); ++i) {
    if ((places.empty() || places[i] == who.place) && members[i] == who.guid) return true;
  }
  return false;
}

bool round_record::knows(const std::string& guid) const {
  return std::find(members.begin(), members.end(), guid) != members.end();
}

void round_record::add(const round_member& who) {
  members.push_back(who.guid);
  places.push_back(who.place);
}

std::string serialize(const round_record& record) {
  auto object = json_object::of_kind(round_kind);
  object.set("round", record.round).set("members", record.members);
  if (record.places.size() == record.members.size()) object.set("places", record.places);
  return object.add(record.unknown_fields).to_text();
}

std::optional<round_record> parse_round(const std::string& data) try {
  if (data.empty()) return round_record{};
  const auto object = json_object::parse(data, encoding::utf8);
  if (!object || !object->is(round_kind)) return std::nullopt;
  round_record record;
  record.round = object->integer("round", 0, last_round).value();
  record.members = object->texts("members").value();
  if (object->has("places")) {
    record.places = object->integers("places").value();
    if (record.places.size() != record.members.size()) return std::nullopt;
  }
  record.unknown_fields = object->without({"round", "members", "places"});
  return record;
} catch (const std::bad_optional_access&) {  // a field is missing or has another type
  return std::nullopt;
}

}  // namespace zkrecipes::detail
