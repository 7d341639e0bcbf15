// The scenarios by name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "run/stage.hpp"

namespace zkrecipes::simulation {

// Scenarios of one recipe or broker each: a coroutine per client that uses the recipe, and the rules for the recipe's
// nodes.

std::unique_ptr<scenario> make_counter_scenario(stage& in);
std::unique_ptr<scenario> make_membership_scenario(stage& in);
std::unique_ptr<scenario> make_barrier_scenario(stage& in);
std::unique_ptr<scenario> make_commit_scenario(stage& in);
std::unique_ptr<scenario> make_discovery_scenario(stage& in);
std::unique_ptr<scenario> make_double_barrier_scenario(stage& in);
std::unique_ptr<scenario> make_gate_scenario(stage& in);
std::unique_ptr<scenario> make_lock_scenario(stage& in);
std::unique_ptr<scenario> make_multi_lock_scenario(stage& in);
std::unique_ptr<scenario> make_queue_scenario(stage& in);
std::unique_ptr<scenario> make_backlog_scenario(stage& in);
std::unique_ptr<scenario> make_rabbit_scenario(stage& in);
std::unique_ptr<scenario> make_redis_scenario(stage& in);
std::unique_ptr<scenario> make_read_write_scenario(stage& in);
std::unique_ptr<scenario> make_restore_scenario(stage& in);
std::unique_ptr<scenario> make_semaphore_scenario(stage& in);
std::unique_ptr<scenario> make_pace_scenario(stage& in);
std::unique_ptr<scenario> make_shards_scenario(stage& in);
std::unique_ptr<scenario> make_value_scenario(stage& in);

struct named_scenario {
  const char* name;
  scenario_maker make;
};

std::span<const named_scenario> scenarios();

/// "all", and the name of each scenario.
std::vector<std::string> scenario_names();

/// The scenario with this name; for "all" the seed picks one.
const named_scenario& pick_scenario(const std::string& name, std::uint64_t seed);

}  // namespace zkrecipes::simulation
