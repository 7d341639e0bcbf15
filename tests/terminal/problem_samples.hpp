// A cluster in which everything is wrong that there is a rule for.
#pragma once

#include "cluster/recipe_status.hpp"
#include "screen/model.hpp"

namespace samples {

/// A leader, and two followers that serve and are not behind; one election, in office.
zkadmin::findings healthy();

/// All kinds of recipes.
inline constexpr zkadmin::wanted_kinds all_kinds{.queues = true};

/// Each problem but those of the whole ensemble.
zkadmin::findings sick();

/// A message that hangs, two places of one session, and an id that has come three times.
zkadmin::election_status standing_election();
/// A member that fails, one that comes again, and shards that stand still.
zkadmin::group_status failing_group();
/// All are present, for long, and nobody has begun the round.
zkadmin::recipe_status full_round();

/// A dashboard that has seen all of them.
zkadmin::model sick_dashboard();

}  // namespace samples
