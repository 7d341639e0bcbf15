// Four clients campaign for one line, write under the fence of their ownership, and release, again and again.
#pragma once

#include "scenario/contender.hpp"

namespace zkrecipes::simulation {

/// One contender per process.
std::unique_ptr<scenario> make_election_scenario(stage& in);
/// Three per process, over one session.
std::unique_ptr<scenario> make_line_scenario(stage& in);

/// A process with `count` contenders.
std::unique_ptr<program> make_contenders(contest& of, stage& in, int client, session with, int count);

}  // namespace zkrecipes::simulation
