// Three coordinators consume one queue; one of them at a time leads and runs its career. A fourth client fills the
// queue with a producer, and an operator interferes now and then.
#pragma once

#include <zkrecipes/session.hpp>

#include "run/stage.hpp"
#include "scenario/call_rules.hpp"
#include "scenario/delivery_rules.hpp"
#include "scenario/line_rules.hpp"
#include "scenario/term_rules.hpp"

namespace zkrecipes::simulation {

std::unique_ptr<scenario> make_coordinator_scenario(stage& in);

/// The paths of the scenario.
namespace service {
inline constexpr const char* election_path = "/consumer";
inline constexpr const char* queue_path = "/queue";
inline constexpr const char* result_path = "/result";
}  // namespace service

inline constexpr int producing_client = 3;

/// State that the programs of the scenario share.
struct consumers {
  explicit consumers(stage& in);

  career_traits traits;
  term_rules terms;
  delivery_rules messages;
  call_rules calls;
  line_rules line;
  int revivals = 0;  ///< Under way: what they put back has to be processed yet.
};

std::unique_ptr<program> make_worker(consumers& of, stage& in, int client, session with);
std::unique_ptr<program> make_filler(consumers& of, stage& in, session with);

}  // namespace zkrecipes::simulation
