#include "report/recipe_report.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "problems/rules.hpp"
#include "report/formats.hpp"

namespace zkadmin {
namespace {

constexpr std::size_t longest_detail = 80;  // Bytes.

template <class Number>
std::string number_or_dash(const std::optional<Number>& number) {
  return number ? std::to_string(*number) : "-";
}

std::string age_or_dash(const std::optional<std::chrono::milliseconds>& age) {
  return age ? short_duration(*age) : "-";
}

/// "none": the node belongs to no session.
std::string session_text(const std::optional<std::int64_t>& session) {
  if (!session) return "-";
  return *session == 0 ? "none" : hexadecimal(static_cast<std::uint64_t>(*session));
}

table_row recipe_row(const recipe_status& status, const problem_limits& limits) {
  return {{kind_text(status)},
          {status.path},
          {or_dash(status.state)},
          {or_dash(status.holder)},
          {number_or_dash(status.waiting)},
          {age_or_dash(status.age)},
          {or_dash(text_of(problems_of(status, limits)))}};
}

table participant_table(const recipe_status& status) {
  table content;
  content.columns = {{"ROLE"}, {"ID"}, {"DETAIL"}, {"SESSION"}, {"TOKEN", 0, true}, {"FOR", 0, true}, {"NODE"}};
  for (const auto& each : status.participants) {
    const auto detail = each.is_readable ? shortened(each.detail, longest_detail) : "may not be read";
    content.rows.push_back({{each.role},
                            {or_dash(each.id)},
                            {or_dash(detail)},
                            {session_text(each.session)},
                            {number_or_dash(each.token)},
                            {age_or_dash(each.age)},
                            {or_dash(each.node)}});
  }
  return content;
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
  if (!status.participants.empty()) text += "\n" + printed(participant_table(status));
  if (status.not_read > 0) text += "and " + std::to_string(status.not_read) + " more, which were not read\n";
  return text;
}

}  // namespace

std::string to_table(const known_recipes& recipes, const problem_limits& limits) {
  if (!recipes) return "Recipes: not known.\n";
  table content;
  content.columns = {{"KIND"}, {"PATH"}, {"STATE"}, {"HOLDER"}, {"WAITING", 0, true}, {"FOR", 0, true}, {"PROBLEM"}};
  for (const auto& each : recipes->found) content.rows.push_back(recipe_row(each, limits));
  const std::string text = recipes->found.empty() ? "" : printed(content);
  if (!recipes->complete) return text + "There may be more recipes than these.\n";
  return recipes->found.empty() ? "No recipes.\n" : text;
}

std::string to_details(const recipe_survey& recipes, const problem_limits& limits) {
  std::string text;
  for (const auto& each : recipes.found) text += (text.empty() ? "" : "\n") + details_of(each, limits);
  return text;
}

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

namespace {

std::string session_field(const std::optional<std::int64_t>& session) {
  return session && *session != 0 ? hexadecimal(static_cast<std::uint64_t>(*session)) : "";
}

template <class Number>
std::string field_of(const std::optional<Number>& number) {
  return number ? std::to_string(*number) : "";
}

std::string field_of(const std::optional<std::chrono::milliseconds>& age) {
  return age ? std::to_string(age->count()) : "";
}

/// As in JSON: times in milliseconds.
std::string fact_field(const fact_value& value) {
  if (std::holds_alternative<std::monostate>(value)) return "";
  if (const auto* time = std::get_if<std::chrono::milliseconds>(&value)) return std::to_string(time->count());
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return to_text(value);
}

std::string kinds_field(const recipe_status& status) {
  std::string text;
  for (const auto each : status.kinds) text += (text.empty() ? "" : ",") + identifier_of(each);
  return text;
}

std::string recipe_lines(const recipe_status& status, const problem_limits& limits) {
  std::string text = tsv_line({"recipe", status.path, kinds_field(status), status.client, to_string(status.access),
                               status.state, status.holder, session_field(status.session), field_of(status.waiting),
                               field_of(status.age), field_of(status.size), field_of(status.taken),
                               std::to_string(status.not_read), text_of(problems_of(status, limits))});
  for (const auto& each : status.facts) text += tsv_line({"fact", status.path, each.name, fact_field(each.value)});
  for (const auto& each : status.participants)
    text += tsv_line({"participant", status.path, each.role, each.id, each.node, field_of(each.position),
                      session_field(each.session), field_of(each.token), field_of(each.age), each.detail,
                      each.is_orphan ? "yes" : "no", each.is_readable ? "yes" : "no"});
  return text;
}

}  // namespace

std::string to_tsv(const known_recipes& recipes, const problem_limits& limits) {
  if (!recipes) return tsv_line({"recipes", "unknown", ""});
  std::string text =
      tsv_line({"recipes", recipes->complete ? "complete" : "incomplete", std::to_string(recipes->found.size())});
  for (const auto& each : recipes->found) text += recipe_lines(each, limits);
  for (const auto& each : recipes->notes) text += tsv_line({"note", each.path, each.text});
  return text;
}

}  // namespace zkadmin
