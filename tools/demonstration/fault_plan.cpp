#include "fault_plan.hpp"

#include <algorithm>

namespace demo {

namespace {

constexpr double first = 0.05;
constexpr double last = 0.95;

}  // namespace

std::vector<fault> plan_faults(int kills, int server_kills) {
  std::vector<fault> plan{{0.1, fault_kind::resign}, {0.45, fault_kind::resign}, {0.5, fault_kind::pause}};
  if (kills == 1) plan.push_back({0.25, fault_kind::kill});
  if (server_kills == 1) {
    plan.push_back({0.75, fault_kind::kill_server});
    plan.push_back({0.9, fault_kind::start_server});
  }
  for (int i = 0; kills > 1 && i < kills; ++i) {
    plan.push_back({first + (last - first) * (i + 0.5) / kills, fault_kind::kill});
  }
  for (int i = 0; server_kills > 1 && i < server_kills; ++i) {
    const double step = (last - first) / server_kills;
    plan.push_back({first + step * i, fault_kind::kill_server});
    plan.push_back({first + step * (i + 0.5), fault_kind::start_server});
  }
  std::stable_sort(plan.begin(), plan.end(), [](const fault& a, const fault& b) { return a.share < b.share; });
  return plan;
}

}  // namespace demo
