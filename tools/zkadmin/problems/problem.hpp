// Something in the cluster that an operator should know of. docs/zkadmin.md has a section for each name.
#pragma once

#include <string>
#include <vector>

namespace zkadmin {

enum class severity {
  warning,   ///< The work goes on; without action it may come to a stand.
  critical,  ///< Work stands still, or is about to be done twice.
};

/// As shown: "warning", "critical".
const char* to_string(severity how_bad) noexcept;

struct problem {
  std::string name;  ///< One of a fixed set, for programs: "nobody-in-line".
  severity how_bad = severity::warning;
  std::string where;   ///< The path of the recipe, or the name of the server.
  std::string text;    ///< For people; it may hold ages and numbers, which differ from look to look.
  std::string cure{};  ///< What to type, or to set; empty: docs/zkadmin.md says more.
  friend bool operator==(const problem&, const problem&) = default;
};

using problem_list = std::vector<problem>;

/// The texts of all, in a line; empty if there are none.
std::string text_of(const problem_list& all);

/// Whether one of them is critical.
bool is_critical(const problem_list& all) noexcept;

/// Whether one of them has this name.
bool has_problem(const problem_list& all, const std::string& name) noexcept;

}  // namespace zkadmin
