// Three coordinators work off one queue, of which one at a time has the career; a producer of its own fills
// it.
#pragma once

#include "run/stage.hpp"

namespace zkrecipes::simulation {

std::unique_ptr<scenario> make_coordinator_scenario(stage& in);

}  // namespace zkrecipes::simulation
