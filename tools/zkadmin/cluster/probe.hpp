// Asking the servers themselves, each over a connection of its own.
#pragma once

#include "cluster/status.hpp"
#include "settings/settings.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <span>
#include <vector>

namespace zkadmin {

/// Sends `srvr` to all servers at the same time; a server that does not answer within `limit` is told to be
/// unreachable. In the order of `servers`, which must outlive the call; throws nothing of its own.
boost::asio::awaitable<std::vector<server_status>> probe_ensemble(std::span<const endpoint> servers,
                                                                  std::chrono::milliseconds limit);

}  // namespace zkadmin
