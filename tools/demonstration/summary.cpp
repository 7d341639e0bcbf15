#include "summary.hpp"

#include <algorithm>

namespace demo {

bool summary::success() const {
  auto some = [&](const char* how) {
    return std::any_of(terms.begin(), terms.end(), [&](const auto& each) { return each.second.ended == how; });
  };
  return counts.clean() && failed_consumers == 0 && some("resign") && some("kill") && some("pause") &&
         server_leaders_killed > 0;
}

}  // namespace demo
