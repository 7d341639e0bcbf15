#include "shards/failure_streak.hpp"

#include <algorithm>

namespace zkrecipes::detail {

namespace {

constexpr std::int64_t factor_for_one_member = 3;
constexpr std::size_t most_names = 8;

}  // namespace

void count_owner_failure(term_record& record, const std::string& member, std::int64_t at_ms,
                         std::chrono::milliseconds calm) {
  auto& row = record.struck;
  if (record.deaths == 0) row = {};
  const bool is_known = std::ranges::find(row.by, member) != row.by.end();
  if (!is_known && row.by.size() < most_names) row.by.push_back(member);
  const auto since = at_ms - row.at_ms;
  const bool is_soon = row.at_ms > 0 && since >= 0 && since < calm.count();
  if (record.deaths > 0 && is_soon && is_known) return;
  ++record.deaths;
  if (at_ms > 0) row.at_ms = at_ms;
}

std::int64_t failures_needed(const term_record& record, std::int32_t quarantine_after) {
  const bool is_one = quarantine_after > 1 && record.struck.by.size() < 2;
  return quarantine_after * (is_one ? factor_for_one_member : 1);
}

}  // namespace zkrecipes::detail
