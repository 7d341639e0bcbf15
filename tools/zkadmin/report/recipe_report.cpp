#include "report/recipe_report.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "problems/rules.hpp"
#include "report/formats.hpp"

namespace zkadmin {
namespace {

namespace json = boost::json;

constexpr std::size_t longest_detail = 80;  // Bytes.

/// As ZooKeeper writes it; nothing if it is not known, or if the node belongs to no session.
std::string session_text(const std::optional<std::int64_t>& session) {
  return session && *session != 0 ? hexadecimal(static_cast<std::uint64_t>(*session)) : "";
}

table recipe_table(const recipe_survey& recipes, const problem_limits& limits) {
  return table_of({{"KIND"}, {"PATH"}, {"STATE"}, {"HOLDER"}, {"WAITING", 0, true}, {"FOR", 0, true}, {"PROBLEM"}},
                  recipes.found, [&limits](const recipe_status& each) {
                    return row_of(kind_text(each), each.path, or_dash(each.state), or_dash(each.holder), each.waiting,
                                  each.age, or_dash(text_of(problems_of(each, limits))));
                  });
}

table participant_table(const recipe_status& status) {
  return table_of({{"ROLE"}, {"ID"}, {"DETAIL"}, {"SESSION"}, {"TOKEN", 0, true}, {"FOR", 0, true}, {"NODE"}},
                  status.participants, [](const participant_status& each) {
                    const auto detail = each.is_readable ? shortened(each.detail, longest_detail) : "may not be read";
                    const auto session = each.session == 0 ? "none" : or_dash(session_text(each.session));
                    return row_of(each.role, or_dash(each.id), or_dash(detail), session, each.token, each.age,
                                  or_dash(each.node));
                  });
}

std::string heading_of(const recipe_status& status) {
  auto text = status.path + ": " + kind_text(status) + ", " + or_dash(status.state);
  if (!status.client.empty()) text += ", layout of " + status.client;
  return text;
}

/// "size: 3, taken: 2".
std::string facts_line(const recipe_status& status) {
  std::string text;
  for (const auto& each : status.facts) {
    auto name = each.name;
    std::replace(name.begin(), name.end(), '_', ' ');
    append_to_list(text, name + ": " + to_text(each.value));
  }
  return text;
}

std::string details_of(const recipe_status& status, const problem_limits& limits) {
  auto text = printable(heading_of(status)) + "\n";
  for (const auto& each : problems_of(status, limits)) text += "problem: " + printable(each.text) + "\n";
  if (status.kinds.size() > 1) text += "nothing tells which of these it is; declare it with [[recipes]], or --kind\n";
  if (const auto facts = facts_line(status); !facts.empty()) text += printable(facts) + "\n";
  text += block(participant_table(status));
  if (status.not_read > 0) text += "and " + std::to_string(status.not_read) + " more, which were not read\n";
  return text;
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

json::object participant_object(const participant_status& each) {
  return {{"role", each.role},
          {"id", or_null(each.id)},
          {"node", or_null(each.node)},
          {"position", or_null(each.position)},
          {"session", or_null(session_text(each.session))},
          {"token", or_null(each.token)},
          {"age_ms", or_null(each.age)},
          {"detail", or_null(each.detail)},
          {"orphan", each.is_orphan},
          {"readable", each.is_readable}};
}

json::object problem_object(const problem& each) {
  return {{"name", each.name}, {"severity", to_string(each.how_bad)}, {"text", well_formed(each.text)}};
}

json::object recipe_object(const recipe_status& status, const problem_limits& limits) {
  const auto& kinds = status.kinds;
  return {{"path", well_formed(status.path)},
          {"kind", or_null(kinds.size() == 1 ? identifier_of(kinds.front()) : "")},
          {"kinds", array_of(kinds, [](recipe each) { return json::value(identifier_of(each)); })},
          {"client", or_null(status.client)},
          {"access", to_string(status.access)},
          {"state", or_null(status.state)},
          {"holder", or_null(status.holder)},
          {"session", or_null(session_text(status.session))},
          {"waiting", or_null(status.waiting)},
          {"age_ms", or_null(status.age)},
          {"size", or_null(status.size)},
          {"taken", or_null(status.taken)},
          {"facts", facts_object(status)},
          {"participants", array_of(status.participants, participant_object)},
          {"not_read", status.not_read},
          {"foreign_nodes", json::object{{"count", status.stranger_count}, {"names", text_array(status.strangers)}}},
          {"problems", array_of(problems_of(status, limits), problem_object)}};
}

/// A fact's value as a field of TSV, in the units of the JSON report: times in milliseconds.
std::string fact_field(const fact_value& value) {
  if (std::holds_alternative<std::monostate>(value)) return "";
  if (const auto* time = std::get_if<std::chrono::milliseconds>(&value)) return field_of(*time);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return to_text(value);
}

std::string recipe_lines(const recipe_status& status, const problem_limits& limits) {
  const auto& path = status.path;
  std::string kinds;
  for (const auto each : status.kinds) kinds += (kinds.empty() ? "" : ",") + identifier_of(each);
  auto text = tsv_line("recipe", path, kinds, status.client, to_string(status.access), status.state, status.holder,
                       session_text(status.session), status.waiting, status.age, status.size, status.taken,
                       status.not_read, text_of(problems_of(status, limits)));
  for (const auto& each : status.facts) text += tsv_line("fact", path, each.name, fact_field(each.value));
  for (const auto& each : status.participants)
    text += tsv_line("participant", path, each.role, each.id, each.node, each.position, session_text(each.session),
                     each.token, each.age, each.detail, each.is_orphan, each.is_readable);
  return text;
}

}  // namespace

std::string to_table(const known_recipes& recipes, const problem_limits& limits) {
  const bool is_any = recipes && !recipes->found.empty();
  return survey_table(recipes, "recipes", is_any ? printed(recipe_table(*recipes, limits)) : "");
}

std::string to_details(const recipe_survey& recipes, const problem_limits& limits) {
  std::string text;
  for (const auto& each : recipes.found) text += (text.empty() ? "" : "\n") + details_of(each, limits);
  return text;
}

std::string to_json(const known_recipes& recipes, const problem_limits& limits) {
  return survey_json(recipes, "recipes", [&limits](const auto& each) { return recipe_object(each, limits); });
}

std::string to_tsv(const known_recipes& recipes, const problem_limits& limits) {
  return survey_tsv(recipes, "recipes", [&limits](const auto& each) { return recipe_lines(each, limits); });
}

}  // namespace zkadmin
