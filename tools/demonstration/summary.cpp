#include "summary.hpp"

#include <algorithm>

namespace demo {

namespace {

int count(const std::map<std::int64_t, term_history>& terms, const std::string& how) {
  return static_cast<int>(
      std::count_if(terms.begin(), terms.end(), [&](const auto& each) { return each.second.ended == how; }));
}

}  // namespace

int summary::kills() const { return count(terms, "kill"); }

bool summary::success() const {
  const bool happened = count(terms, "resign") && count(terms, "pause") && kills() >= planned_kills &&
                        server_leaders_killed >= planned_server_kills;
  return counts.clean() && failed_consumers == 0 && runs_ended == 0 && happened;
}

}  // namespace demo
