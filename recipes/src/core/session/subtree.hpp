// A node together with its missing parents, and a node together with everything below it.
#pragma once

#include <cstddef>
#include <string>

#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// Creates a node as `what` says, and its missing parents as persistent nodes without data.
awaitable<backend::reply> create_with_parents(core_ptr session, backend::request what);

/// Removes a node and all nodes below it; completes with the number of nodes whose removal was confirmed, also on
/// failure. A node that is missing already is no error.
awaitable<outcome<std::size_t>> remove_with_children(core_ptr session, std::string path);

}  // namespace zkrecipes::detail
