#include "problems/commit_rules.hpp"

#include <string>

#include "text.hpp"

namespace zkadmin {
namespace {

constexpr std::size_t longest_transaction_id = 80;  // Bytes.

}  // namespace

problem_list problems_of(const commit_status& commit, const problem_limits& limits) {
  const undecided_status* oldest = nullptr;
  std::size_t count = 0;
  for (const auto& each : commit.undecided) {
    if (each.age <= limits.transaction_limit) continue;
    ++count;
    if (!oldest || each.age > oldest->age) oldest = &each;
  }
  if (!oldest) return {};
  return {{"transactions-in-doubt", severity::critical, commit.path,
           "undecided transactions: " + std::to_string(count) + ", the oldest for " + short_duration(oldest->age) +
               " (" + shortened(oldest->id, longest_transaction_id) + ")"}};
}

}  // namespace zkadmin
