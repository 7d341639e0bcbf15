// Something in the cluster that an operator should know of, and the judgement by all rules.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "cluster/recipe_status.hpp"
#include "settings/settings.hpp"

namespace zkadmin {

// Something in the cluster that an operator should know of. docs/zkadmin.md has a section for each name.

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

/// "problem: ..." of each.
std::vector<std::string> problem_lines(const problem_list& all);

/// Whether one of them is critical.
bool is_critical(const problem_list& all) noexcept;

/// Whether one of them has this name.
bool has_problem(const problem_list& all, const std::string& name) noexcept;

// What comes first on the screen and in print.

/// Puts those with a critical problem first, then those with another one; otherwise the order stays. The rules of the
/// kind have to be included.
template <class Status>
void put_problems_first(std::vector<Status>& all, const problem_limits& limits) {
  const auto has_any = [&limits](const Status& each) { return !problems_of(each, limits).empty(); };
  const auto has_critical = [&limits](const Status& each) { return is_critical(problems_of(each, limits)); };
  const auto well = std::stable_partition(all.begin(), all.end(), has_any);
  std::stable_partition(all.begin(), well, has_critical);
}

/// As monitoring expects it; the numbers are the exit statuses of `zkadmin check`.
enum class check_state { ok = 0, warning = 1, critical = 2, unknown = 3 };

/// As shown: "ok", "warning", "critical", "unknown".
const char* to_string(check_state state) noexcept;

struct verdict {
  problem_list problems{};             ///< The critical ones first.
  std::vector<survey_note> unknown{};  ///< The gaps in what is known, and why. Empty: there are none.
  std::string extent{};                ///< What was looked at: "3 servers, 1 election, 0 topics".
  std::vector<survey_note> remarks{};  ///< They are worth to be told, and no gaps.
};

verdict judge(const findings& seen, const wanted_kinds& kinds, const problem_limits& limits);

/// A gap outweighs a warning, because it may hide something critical, and nothing outweighs what is critical.
check_state state_of(const verdict& judged) noexcept;

}  // namespace zkadmin
