// Asks servers what they tell everybody.
#pragma once

#include <cstdint>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "cluster/admin_client.hpp"
#include "cluster/secure_connections.hpp"
#include "cluster/server_line.hpp"
#include "cluster/tree_search.hpp"
#include "security/server_exposure.hpp"
#include "settings/settings.hpp"

namespace zkadmin {

/// Takes what the answers to `conf` and `gtmk` tell. A word is closed only if the server says so: an answer that did
/// not come is a gap. Pure.
void add_words(server_exposure& seen, const word_answer& conf, const word_answer& mask);

/// Takes the AdminServer's answer to /commands/configuration. It is closed only if the connection was refused: all else
/// that is no such answer is a gap. Returns whether it answers. Pure.
bool add_admin_server(server_exposure& seen, const std::string& where, const admin_answer& settings);

/// Asks for `conf` and `gtmk`, with `tls` over TLS, and then the AdminServer at `admin_port` of the host, whichever
/// server's it is. Nothing of it changes the server.
boost::asio::awaitable<server_exposure> ask_about_exposure(endpoint server, std::uint16_t admin_port,
                                                           tls_context_ptr tls, deadline limit);

}  // namespace zkadmin
