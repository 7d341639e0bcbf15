// Duplicates across processes, behind one gate.
#pragma once

#include "run/stage.hpp"

namespace zkrecipes::simulation {

std::unique_ptr<scenario> make_gate_scenario(stage& in);

}  // namespace zkrecipes::simulation
