#include <algorithm>

#include "problems/recipe_rules.hpp"
#include "report/printed.hpp"
#include "report/recipe_report.hpp"
#include "text.hpp"

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

}  // namespace zkadmin
