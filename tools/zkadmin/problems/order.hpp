// What comes first on the screen and in print.
#pragma once

#include <algorithm>
#include <vector>

#include "problems/limits.hpp"
#include "problems/problem.hpp"

namespace zkadmin {

/// Puts those with a critical problem first, then those with another one; otherwise the order stays. The rules of the
/// kind have to be included.
template <class Status>
void put_problems_first(std::vector<Status>& all, const problem_limits& limits) {
  const auto has_any = [&limits](const Status& each) { return !problems_of(each, limits).empty(); };
  const auto has_critical = [&limits](const Status& each) { return is_critical(problems_of(each, limits)); };
  const auto well = std::stable_partition(all.begin(), all.end(), has_any);
  std::stable_partition(all.begin(), well, has_critical);
}

}  // namespace zkadmin
