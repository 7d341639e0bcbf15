// Asks servers what they tell everybody.
#pragma once

#include <cstdint>

#include <boost/asio/awaitable.hpp>

#include "cluster/secure_connections.hpp"
#include "cluster/tree_search.hpp"
#include "security/server_exposure.hpp"
#include "settings/settings.hpp"

namespace zkadmin {

/// Asks for `conf` and `gtmk`, with `tls` over TLS, and then the AdminServer, if it is the one of this server. Nothing
/// of it changes the server.
boost::asio::awaitable<server_exposure> ask_about_exposure(endpoint server, std::uint16_t admin_port,
                                                           tls_context_ptr tls, deadline limit);

}  // namespace zkadmin
