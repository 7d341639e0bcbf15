#include "cluster/revocation_progress.hpp"

#include <algorithm>

namespace zkadmin {

bool revocation_progress::is_done() const noexcept {
  return std::all_of(holders.begin(), holders.end(), [](const auto& each) { return each.gone_after.has_value(); });
}

revocation_progress progress_of(const revocation& found) {
  revocation_progress progress{found.path, {}};
  for (const auto& each : found.holders)
    progress.holders.push_back({label(each.place), each.place.node, each.obstacle.empty() && !each.was_asked});
  return progress;
}

}  // namespace zkadmin
