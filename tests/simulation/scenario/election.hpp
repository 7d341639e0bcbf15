// Four clients campaign for one line, write under the fence of their ownership, and release, again and again.
#pragma once

#include "run/stage.hpp"

namespace zkrecipes::simulation {

/// One contender per process.
std::unique_ptr<scenario> make_election_scenario(stage& in);
/// Three per process, over one session.
std::unique_ptr<scenario> make_line_scenario(stage& in);

}  // namespace zkrecipes::simulation
