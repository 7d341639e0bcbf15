#include "shards/quarantine_terms.hpp"

#include <algorithm>

#include "shards/shard_quarantine.hpp"

namespace zkrecipes::detail {

using namespace std::chrono_literals;

namespace {

constexpr auto calms = 12;
constexpr std::chrono::milliseconds shortest = 1s;
constexpr std::chrono::milliseconds longest = 10min;
constexpr std::int64_t most_doublings = 20;

}  // namespace

std::chrono::milliseconds quarantine_terms::length_of(const std::string& data) const {
  const auto first = std::max(calms * calm_, shortest);
  const auto doublings = std::clamp<std::int64_t>(parse_quarantine(data).before, 0, most_doublings);
  return std::min(first * (std::int64_t{1} << doublings), std::max(longest, first));
}

std::vector<quarantine_terms::ended> quarantine_terms::look(const children_snapshot& present,
                                                            lease_clock::time_point now,
                                                            lease_clock::time_point& next) {
  std::vector<ended> all;
  std::map<std::int64_t, lease_clock::time_point> seen;
  for (const auto& each : present.nodes) {
    const auto known = since_.find(each->stat.czxid);
    const auto since = known == since_.end() ? now : known->second;
    seen[each->stat.czxid] = since;
    const auto until = since + length_of(each->data);
    if (now >= until) {
      all.push_back({each->name, each->stat.version});
    } else {
      next = std::min(next, until);
    }
  }
  since_ = std::move(seen);
  return all;
}

}  // namespace zkrecipes::detail
