#include "run/scenarios.hpp"

#include "scenario/coordinator.hpp"
#include "scenario/election.hpp"
#include "scenario/recipes.hpp"
#include "scenario/shared_gate.hpp"

namespace zkrecipes::simulation {

namespace {

const named_scenario all_scenarios[] = {
    {"election", &make_election_scenario},
    {"coordinator", &make_coordinator_scenario},
    {"line", &make_line_scenario},
    {"multi_lock", &make_multi_lock_scenario},
    {"queue", &make_queue_scenario},
    {"read_write_lock", &make_read_write_scenario},
    {"membership", &make_membership_scenario},
    {"counter", &make_counter_scenario},
    {"semaphore", &make_semaphore_scenario},
    {"barrier", &make_barrier_scenario},
    {"double_barrier", &make_double_barrier_scenario},
    {"two_phase_commit", &make_commit_scenario},
    {"shared_value", &make_value_scenario},
    {"discovery", &make_discovery_scenario},
    {"lock", &make_lock_scenario},
    {"backlog", &make_backlog_scenario},
    {"shards", &make_shards_scenario},
    {"topic", &make_topic_scenario},
    {"shared_gate", &make_gate_scenario},
    {"shared_balance", &make_pace_scenario},
};

}  // namespace

std::span<const named_scenario> scenarios() { return all_scenarios; }

std::vector<std::string> scenario_names() {
  std::vector<std::string> names{"all"};
  for (const auto& each : all_scenarios) names.emplace_back(each.name);
  return names;
}

const named_scenario& pick_scenario(const std::string& name, std::uint64_t seed) {
  for (const auto& each : all_scenarios) {
    if (name == each.name) return each;
  }
  return all_scenarios[seed % std::size(all_scenarios)];
}

}  // namespace zkrecipes::simulation
