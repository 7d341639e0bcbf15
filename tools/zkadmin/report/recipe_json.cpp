
#include "problems/recipe_rules.hpp"
#include "report/json_values.hpp"
#include "report/recipe_report.hpp"

namespace zkadmin {
namespace {

namespace json = boost::json;

/// As ZooKeeper writes it; null if it is not known, or if there is none.
json::value session_value(const std::optional<std::int64_t>& session) {
  return session && *session != 0 ? json::value(hexadecimal(static_cast<std::uint64_t>(*session)))
                                  : json::value(nullptr);
}

struct value_in_json {
  json::value operator()(std::monostate) const { return nullptr; }
  json::value operator()(bool value) const { return value; }
  json::value operator()(std::int64_t value) const { return value; }
  json::value operator()(std::chrono::milliseconds value) const { return value.count(); }
  json::value operator()(const std::string& value) const { return json::value(well_formed(value)); }
};

/// A time has its unit in its name.
json::object facts_object(const recipe_status& status) {
  json::object all;
  for (const auto& each : status.facts) {
    const bool is_time = std::holds_alternative<std::chrono::milliseconds>(each.value);
    all[each.name + (is_time ? "_ms" : "")] = std::visit(value_in_json(), each.value);
  }
  return all;
}

json::array participant_array(const recipe_status& status) {
  json::array all;
  for (const auto& each : status.participants)
    all.push_back({{"role", each.role},
                   {"id", or_null(each.id)},
                   {"node", or_null(each.node)},
                   {"position", or_null(each.position)},
                   {"session", session_value(each.session)},
                   {"token", or_null(each.token)},
                   {"age_ms", or_null(each.age)},
                   {"detail", or_null(each.detail)},
                   {"orphan", each.is_orphan},
                   {"readable", each.is_readable}});
  return all;
}

json::array kind_array(const recipe_status& status) {
  json::array all;
  for (const auto each : status.kinds) all.emplace_back(identifier_of(each));
  return all;
}

json::object foreign_object(const recipe_status& status) {
  json::array names;
  for (const auto& each : status.strangers) names.emplace_back(well_formed(each));
  return {{"count", status.stranger_count}, {"names", std::move(names)}};
}

json::array problem_array(const recipe_status& status, const problem_limits& limits) {
  json::array all;
  for (const auto& each : problems_of(status, limits))
    all.push_back({{"name", each.name}, {"severity", to_string(each.how_bad)}, {"text", well_formed(each.text)}});
  return all;
}

json::object recipe_object(const recipe_status& status, const problem_limits& limits) {
  json::object object;
  object["path"] = well_formed(status.path);
  object["kind"] = status.kinds.size() == 1 ? json::value(identifier_of(status.kinds.front())) : json::value(nullptr);
  object["kinds"] = kind_array(status);
  object["client"] = or_null(status.client);
  object["access"] = to_string(status.access);
  object["state"] = or_null(status.state);
  object["holder"] = or_null(status.holder);
  object["session"] = session_value(status.session);
  object["waiting"] = or_null(status.waiting);
  object["age_ms"] = or_null(status.age);
  object["size"] = or_null(status.size);
  object["taken"] = or_null(status.taken);
  object["facts"] = facts_object(status);
  object["participants"] = participant_array(status);
  object["not_read"] = status.not_read;
  object["foreign_nodes"] = foreign_object(status);
  object["problems"] = problem_array(status, limits);
  return object;
}

json::value recipe_array(const known_recipes& recipes, const problem_limits& limits) {
  if (!recipes) return nullptr;
  json::array all;
  for (const auto& each : recipes->found) all.push_back(recipe_object(each, limits));
  return all;
}

}  // namespace

std::string to_json(const known_recipes& recipes, const problem_limits& limits) {
  json::object document;
  document["schema"] = 1;
  document["complete"] = recipes && recipes->complete;
  document["recipes"] = recipe_array(recipes, limits);
  document["notes"] = recipes ? note_array(recipes->notes) : json::array();
  return json_line(document);
}

}  // namespace zkadmin
