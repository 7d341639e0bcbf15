// Sample data of shard groups, for the tests.
#pragma once

#include <zkrecipes/consumer/shard_group_view.hpp>

#include "cluster/group.hpp"

namespace samples {

/// Twelve shards: one is being handed over, one waits for the end of its dead owner, one begins its first term, one is
/// in quarantine, two wait for an absent member, and one is assigned to nobody.
zkrecipes::shard_group_view group_view();

/// The same as the tool sees it at `noon`.
zkadmin::group_status group();

/// That group, and a quiet one.
zkadmin::group_survey groups();

}  // namespace samples
