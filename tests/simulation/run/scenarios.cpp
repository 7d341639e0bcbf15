#include "run/scenarios.hpp"

#include <algorithm>

#include "scenario/coordinator.hpp"
#include "scenario/election.hpp"

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
    {"restore", &make_restore_scenario},
#ifdef ZKRECIPES_RABBITMQ
    {"rabbit", &make_rabbit_scenario},
#endif
#ifdef ZKRECIPES_REDIS
    {"redis", &make_redis_scenario},
#endif
};

/// The first ones share the seeds of "all". A run of the others takes many times as long, so they get one seed in 61,
/// and those of the first ones are the same with them and without.
constexpr std::size_t quick_scenarios = 20;
constexpr std::uint64_t seeds_of_a_slow_one = 61;

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
  constexpr auto slow = std::size(all_scenarios) - quick_scenarios;
  const bool is_slow = slow > 0 && seed % seeds_of_a_slow_one == seeds_of_a_slow_one - 1;
  if (!is_slow) return all_scenarios[seed % quick_scenarios];
  return all_scenarios[quick_scenarios + seed / seeds_of_a_slow_one % std::max<std::size_t>(slow, 1)];
}

}  // namespace zkrecipes::simulation
