// Reads the state of a shard group.
#pragma once

#include <zkrecipes/consumer/shard_group_view.hpp>

#include "session/core.hpp"
#include "session/operation.hpp"
#include "shards/group_layout.hpp"

namespace zkrecipes::detail {

/// Two round trips. Errors: `no_node`, `foreign_data`, `no_auth`, and those of the session.
awaitable<outcome<shard_group_view>> view_group(core_ptr session, group_layout where);

}  // namespace zkrecipes::detail
