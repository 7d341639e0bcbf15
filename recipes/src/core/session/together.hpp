// Requests that are several: in one round trip, for a node with its missing parents, for a node with all below it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// Creates a node as `what` says, and its missing parents as persistent nodes without data.
awaitable<backend::reply> create_with_parents(core_ptr session, backend::request what);

/// Removes a node and all nodes below it; completes with the number of nodes whose removal was confirmed, also on
/// failure. A node that is missing already is no error.
awaitable<outcome<std::size_t>> remove_with_children(core_ptr session, std::string path);

/// Sends all requests at once, to be executed in this order, and waits for the answers. If the connection breaks or the
/// session expires before the last answer, all requests are sent again, so they must do no harm when executed twice.
/// Without an error each reply is an answer of a server. Error `connection_loss`: it took longer than `how_long`.
awaitable<outcome<std::vector<backend::reply>>> perform_together(core_ptr session, std::vector<backend::request> all,
                                                                 persistence how_long);

/// The same behind a catch-up, so none of the answers is older than the call. If the server refuses the catch-up,
/// everything is sent again. Error `server_error`: it was refused for longer than `how_long`.
awaitable<outcome<std::vector<backend::reply>>> perform_latest(core_ptr session, std::vector<backend::request> all,
                                                               persistence how_long);

/// Whether this answer to a catch-up means that it was executed, so that the reads behind it are no older than it.
bool has_caught_up(const error_code& answer);

}  // namespace zkrecipes::detail
