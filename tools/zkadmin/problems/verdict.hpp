// The judgement on a cluster by all rules.
#pragma once

#include <string>
#include <vector>

#include "cluster/recipe_status.hpp"
#include "problems/problem.hpp"
#include "settings/limits.hpp"

namespace zkadmin {

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
