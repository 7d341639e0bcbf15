#include "summary.hpp"

#include <algorithm>

namespace demo {

bool shard_summary::success() const {
  const bool happened = kills >= planned_kills && pauses + restarts + drains + cuts >= planned_changes &&
                        broker_kills >= planned_broker_kills && outages + crash_loops + restores >= planned_incidents;
  // A restored backup takes the epochs back from which moves are counted.
  const bool is_steady = planned_incidents > 0 || moves.moves <= moves.bound;
  return clean() && happened && is_steady && owned == shards;
}

namespace {

int count(const std::map<std::int64_t, term_history>& terms, const std::string& how) {
  return static_cast<int>(
      std::count_if(terms.begin(), terms.end(), [&](const auto& each) { return each.second.ended == how; }));
}

}  // namespace

int summary::kills() const { return count(terms, "kill"); }

std::vector<double> summary::gaps_after_kills() const {
  std::vector<double> gaps;
  for (const auto& [epoch, term] : terms) {
    const auto next = terms.find(epoch + 1);
    if (term.ended == "kill" && next != terms.end()) gaps.push_back(next->second.gap_ms);
  }
  std::ranges::sort(gaps);
  return gaps;
}

bool summary::success() const {
  return clean() && count(terms, "resign") && count(terms, "pause") && kills() >= planned_kills;
}

}  // namespace demo
