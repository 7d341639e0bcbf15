#include "fault_plan.hpp"

#include <algorithm>

namespace demo {

namespace {

constexpr double first = 0.05;
constexpr double last = 0.95;

/// The moment of the i-th of so many faults of a kind.
double moment(double i, int count) { return first + (last - first) * i / count; }

void add_server_kills(std::vector<fault>& plan, int count) {
  for (int i = 0; i < count; ++i) {
    plan.push_back({moment(i, count), fault_kind::kill_server});
    plan.push_back({moment(i + 0.5, count), fault_kind::start_server});
  }
}

void sort(std::vector<fault>& plan) {
  std::stable_sort(plan.begin(), plan.end(), [](const fault& a, const fault& b) { return a.share < b.share; });
}

}  // namespace

std::vector<fault> plan_faults(int kills, int server_kills) {
  std::vector<fault> plan{{0.1, fault_kind::resign}, {0.45, fault_kind::resign}, {0.5, fault_kind::pause}};
  if (kills == 1) plan.push_back({0.25, fault_kind::kill});
  if (server_kills == 1) {
    plan.push_back({0.75, fault_kind::kill_server});
    plan.push_back({0.9, fault_kind::start_server});
  }
  for (int i = 0; kills > 1 && i < kills; ++i) plan.push_back({moment(i + 0.5, kills), fault_kind::kill});
  if (server_kills > 1) add_server_kills(plan, server_kills);
  sort(plan);
  return plan;
}

std::vector<fault> plan_shard_faults(const shard_fault_counts& how_many) {
  const auto& [kills, changes, server_kills, broker_kills, incidents] = how_many;
  constexpr fault_kind in_turn[] = {fault_kind::pause, fault_kind::restart, fault_kind::drain, fault_kind::cut};
  constexpr fault_kind incident_in_turn[] = {fault_kind::outage, fault_kind::crash_loop, fault_kind::outage,
                                             fault_kind::restore};
  std::vector<fault> plan;
  for (int i = 0; i < kills; ++i) {
    plan.push_back({moment(i + 0.5, kills), i % 3 == 1 ? fault_kind::kill_planner : fault_kind::kill});
  }
  for (int i = 0; i < changes; ++i) plan.push_back({moment(i + 0.25, changes), in_turn[i % 4]});
  for (int i = 0; i < broker_kills; ++i) plan.push_back({moment(i + 0.75, broker_kills), fault_kind::kill_broker});
  for (int i = 0; i < incidents; ++i) plan.push_back({moment(i + 0.35, incidents), incident_in_turn[i % 4]});
  add_server_kills(plan, server_kills);
  sort(plan);
  return plan;
}

}  // namespace demo
