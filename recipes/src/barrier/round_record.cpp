#include "barrier/round_record.hpp"

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace zkrecipes::detail {

namespace json = boost::json;

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

}  // namespace zkrecipes::detail
