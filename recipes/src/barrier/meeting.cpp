#include "barrier/meeting.hpp"

#include <algorithm>
#include <charconv>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace zkrecipes::detail {

namespace json = boost::json;

namespace {

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
  json::object object{{"zkrecipes", "double_barrier"},
                      {"round", record.round},
                      {"members", json::array(record.members.begin(), record.members.end())},
                      {"places", json::array(record.places.begin(), record.places.end())}};
  return json::serialize(object);
}

std::optional<round_record> parse_round(const std::string& data) try {
  if (data.empty()) return round_record{};
  boost::system::error_code error;
  auto value = json::parse(data, error);
  if (error || value.as_object().at("zkrecipes") != "double_barrier") return std::nullopt;
  round_record record;
  record.round = value.as_object().at("round").to_number<std::int64_t>();
  for (const auto& each : value.as_object().at("members").as_array()) {
    record.members.emplace_back(each.as_string());
  }
  if (const auto* places = value.as_object().if_contains("places")) {
    for (const auto& each : places->as_array()) record.places.push_back(each.to_number<std::int32_t>());
    if (record.places.size() != record.members.size()) return std::nullopt;
  }
  return record;
} catch (const std::exception&) {  // a field is missing or has another type
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
