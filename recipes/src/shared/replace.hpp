// Writing a node conditionally, and finding out what came of it.
#pragma once

#include <string>

#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// More than a server takes in one request.
bool is_too_long(const std::string& data);

/// The reply is missing, and it may have been executed all the same. It is so no longer once a later request has been
/// answered: what was sent before is executed before, or never.
bool may_be_done(const backend::reply& result);

/// Replaces the data if the node is still the one that was seen. Surely not done: `bad_version`, `no_node`, `no_auth`,
/// `bad_arguments`. Surely done: no error, or `node_removed` (over a node that was made again meanwhile). Neither:
/// `outcome_unknown`, and `operation_aborted` and what ends the session.
awaitable<outcome<stat>> replace(core_ptr session, std::string path, stat seen, std::string data);

/// Makes the node with its parents if it is missing. Errors: `node_exists` (surely not made by us), and as above. Any lost
/// reply: `outcome_unknown`.
awaitable<outcome<stat>> make(core_ptr session, std::string path, std::string data);

/// The present node, surely not older than what anybody was told before. A node that is missing has the error `no_node`.
awaitable<backend::reply> read_latest(core_ptr session, std::string path);

}  // namespace zkrecipes::detail
