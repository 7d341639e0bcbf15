#include "problems/recipe_rules.hpp"
#include "report/recipe_report.hpp"
#include "report/tsv.hpp"
#include "text.hpp"

namespace zkadmin {
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
