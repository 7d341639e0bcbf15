// The recipes with a form of their own, in the form that all recipes share. Pure functions.
#pragma once

#include "cluster/recipe_status.hpp"

namespace zkadmin {

/// `now`: this machine's clock.
recipe_status recipe_status_of(election_status election, std::chrono::system_clock::time_point now);
recipe_status recipe_status_of(group_status group);
recipe_status recipe_status_of(topic_status topic);
recipe_status recipe_status_of(commit_status commit);
recipe_status recipe_status_of(stream_status stream);
/// Without its claims and letters.
recipe_status recipe_status_of(queue_status queue);

}  // namespace zkadmin
