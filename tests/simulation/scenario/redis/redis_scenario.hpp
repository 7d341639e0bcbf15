#pragma once

#include <memory>

#include "run/stage.hpp"

namespace zkrecipes::simulation {

std::unique_ptr<scenario> make_redis_scenario(stage& in);

}  // namespace zkrecipes::simulation
