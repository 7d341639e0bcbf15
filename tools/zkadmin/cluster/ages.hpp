// What time alone changes in a state that was read earlier.
#pragma once

#include <chrono>

#include "cluster/recipe_status.hpp"

namespace zkadmin {

/// As it is after this time, if nothing else has changed.
void grow_older(topic_status& topic, std::chrono::milliseconds by);
void grow_older(commit_status& commit, std::chrono::milliseconds by);
void grow_older(queue_status& queue, std::chrono::milliseconds by);
void grow_older(recipe_status& recipe, std::chrono::milliseconds by);

}  // namespace zkadmin
