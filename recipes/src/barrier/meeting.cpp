#include "barrier/meeting.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace zkrecipes::detail {

namespace {

constexpr std::string_view round_kind = "double_barrier";
constexpr std::string_view markers[] = {"-member-"};
constexpr std::string_view guid_prefix = "_c_";
constexpr std::size_t guid_length = 36;

}  // namespace

std::optional<attendant> parse_attendant(const member& of) {
  const auto& name = of.name;
  const auto size_at = guid_prefix.size() + guid_length + 1;
  if (!name.starts_with(guid_prefix) || name.size() <= size_at || name[size_at - 1] != '-') return std::nullopt;
  attendant who{name, name.substr(guid_prefix.size(), guid_length), 0, of.sequence};
  const auto* end = name.data() + name.size();
  auto [rest, error] = std::from_chars(name.data() + size_at, end, who.size);
  const bool fine = error == std::errc() && who.size > 0 && std::string_view(rest, end).starts_with(markers[0]);
  return fine ? std::optional(std::move(who)) : std::nullopt;
}

std::span<const std::string_view> meeting_markers() { return markers; }

std::string meeting_marker(int size) { return std::to_string(size).append(markers[0]); }

bool round_record::names(const attendant& who) const {
  for (std::size_t i = 0; i < members.size(); ++i) {
    if ((places.empty() || places[i] == who.place) && members[i] == who.guid) return true;
  }
  return false;
}

bool round_record::knows(const std::string& guid) const {
  return std::find(members.begin(), members.end(), guid) != members.end();
}

void round_record::add(const attendant& who) {
  members.push_back(who.guid);
  places.push_back(who.place);
}

std::string serialize(const round_record& record) {
  auto object = json_object::of_kind(round_kind);
  object.set("round", record.round).set("members", record.members).set("places", record.places);
  return object.add(record.unknown_fields).to_text();
}

std::optional<round_record> parse_round(const std::string& data) try {
  if (data.empty()) return round_record{};
  const auto object = json_object::parse(data, encoding::utf8);
  if (!object || !object->is(round_kind)) return std::nullopt;
  round_record record;
  record.round = object->integer("round").value();
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

std::optional<std::size_t> gathering::position(const std::string& guid) const {
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    if (waiting[i].guid == guid) return i;
  }
  return std::nullopt;
}

std::optional<gathering> interpret(const std::string& data, std::int32_t version, const std::vector<member>& line,
                                   int size, const std::string& self) {
  auto record = parse_round(data);
  if (!record) return std::nullopt;
  gathering seen;
  seen.record = std::move(*record);
  seen.version = version;
  for (const auto& each : line) {
    auto who = parse_attendant(each);
    if (!who) continue;
    if (seen.first_size == 0) seen.first_size = who->size;
    if (who->guid == self) seen.own.push_back(*who);
    if (seen.record.names(*who)) {
      seen.inside.push_back(std::move(*who));
    } else if (who->size == size) {
      // A create whose reply was lost can still be executed, before the one that was sent instead. The member is the
      // node of the later create.
      std::erase_if(seen.waiting, [&](const attendant& before) { return before.guid == who->guid; });
      seen.waiting.push_back(std::move(*who));
    }
  }
  return seen;
}

std::vector<attendant> still_inside(const std::vector<member>& line, const round_record& record) {
  std::vector<attendant> inside;
  for (const auto& each : line) {
    auto who = parse_attendant(each);
    if (who && record.names(*who)) inside.push_back(std::move(*who));
  }
  return inside;
}

}  // namespace zkrecipes::detail
