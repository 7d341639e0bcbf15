// A cluster in which everything is wrong that there is a rule for.
#pragma once

#include "cluster/findings.hpp"
#include "screen/model.hpp"

namespace samples {

/// A leader, and two followers that serve and are not behind; one election, in office.
zkadmin::findings healthy();

/// All kinds of recipes.
inline constexpr zkadmin::wanted_kinds all_kinds{.queues = true};

/// Each problem but those of the whole ensemble.
zkadmin::findings sick();

/// A dashboard that has seen all of them.
zkadmin::model sick_dashboard();

}  // namespace samples
