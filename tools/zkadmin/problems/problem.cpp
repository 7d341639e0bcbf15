#include "problems/problem.hpp"

#include <algorithm>

namespace zkadmin {

const char* to_string(severity how_bad) noexcept { return how_bad == severity::critical ? "critical" : "warning"; }

std::string text_of(const problem_list& all) {
  std::string text;
  for (const auto& each : all) text += (text.empty() ? "" : "; ") + each.text;
  return text;
}

bool is_critical(const problem_list& all) noexcept {
  return std::any_of(all.begin(), all.end(), [](const auto& each) { return each.how_bad == severity::critical; });
}

bool has_problem(const problem_list& all, const std::string& name) noexcept {
  return std::any_of(all.begin(), all.end(), [&name](const auto& each) { return each.name == name; });
}

}  // namespace zkadmin
