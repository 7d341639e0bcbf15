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
  return clean() && count(terms, "resign") && count(terms, "pause") && kills() >= planned_kills;
}

}  // namespace demo
