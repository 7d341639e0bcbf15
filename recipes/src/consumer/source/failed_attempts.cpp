#include "source/failed_attempts.hpp"

#include <algorithm>
#include <limits>

#include "format/shown_text.hpp"

namespace zkrecipes::detail {

namespace {

constexpr auto highest_count = std::numeric_limits<std::int32_t>::max() - 1;

}  // namespace

void count_failure(failed_attempts& of, std::int64_t now) {
  if (of.count == 0) of.since = std::max<std::int64_t>(now, 0);
  if (of.count < highest_count) ++of.count;
}

std::string failed_text(const std::string& name, const failed_attempts& attempts) {
  return name + ' ' + std::to_string(attempts.count) + ' ' + std::to_string(attempts.since);
}

std::optional<std::pair<std::string_view, failed_attempts>> parse_failed_attempts(std::string_view text) {
  const auto second = text.rfind(' ');  // from behind, because a name may have blanks
  const auto first = second == text.npos || second == 0 ? text.npos : text.rfind(' ', second - 1);
  if (first == text.npos) return std::nullopt;
  const auto count = parse_whole<std::int32_t>(text.substr(first + 1, second - first - 1));
  const auto since = parse_whole<std::int64_t>(text.substr(second + 1));
  const bool is_good = count && *count <= highest_count && since;
  if (!is_good) return std::nullopt;
  return std::pair(text.substr(0, first), failed_attempts{*count, *since});
}

}  // namespace zkrecipes::detail
