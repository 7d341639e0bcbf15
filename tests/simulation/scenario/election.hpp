// Three clients campaign, hold, write under the fence of their ownership, and release, again and again.
#pragma once

#include "run/stage.hpp"

namespace zkrecipes::simulation {

std::unique_ptr<scenario> make_election_scenario(stage& in);

}  // namespace zkrecipes::simulation
