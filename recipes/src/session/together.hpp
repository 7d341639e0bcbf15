// Several requests in one round trip.
#pragma once

#include <vector>

#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// For how long a lost connection is waited for.
enum class persistence {
  limited,  ///< As `retry_policy::limit` says.
  endless,  ///< Until it is back: for those who wait for something anyway.
};

/// Sends all requests at once, to be executed in this order, and waits for the answers. They are sent again, all of them,
/// when the connection breaks or the session ends before the last answer: only for what does no harm twice. Without an
/// error each reply has an answer of the server's. Error `connection_loss`: it took longer.
awaitable<outcome<std::vector<backend::reply>>> perform_together(core_ptr session, std::vector<backend::request> all,
                                                                 persistence how_long);

/// The same behind a catch-up: none of the answers is older than the call. A server that refuses to catch up is asked again;
/// `server_error`: for longer than `how_long`.
awaitable<outcome<std::vector<backend::reply>>> perform_latest(core_ptr session, std::vector<backend::request> all,
                                                               persistence how_long);

/// Whether what was read behind a catch-up that was answered so is no older than it.
bool has_caught_up(const error_code& answer);

}  // namespace zkrecipes::detail
