#pragma once

#include <memory>

#include "run/stage.hpp"

namespace zkrecipes::simulation {

std::unique_ptr<scenario> make_rabbit_scenario(stage& in);

}  // namespace zkrecipes::simulation
