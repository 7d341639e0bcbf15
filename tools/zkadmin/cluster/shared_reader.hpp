// Reads what processes share: gates, calls that are made once in a period, balances. All errors are those of the
// requests; each throws `failure` if a child can not be read for another reason than its access list.
#pragma once

#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/reading.hpp"
#include "cluster/recipe_status.hpp"

namespace zkadmin {

/// Reads at most `participants` callers of each bucket, and so many buckets, but at least 64.
boost::asio::awaitable<reading<recipe_status>> read_shared_gate(zkrecipes::session session, std::string path,
                                                                std::size_t participants);

/// The last period that has a node, and at most `participants` of its intents.
boost::asio::awaitable<reading<recipe_status>> read_once_per(zkrecipes::session session, std::string path,
                                                             std::size_t participants);

/// Twice `participants` of the nodes of its members, because each may have a mark beside it.
boost::asio::awaitable<reading<recipe_status>> read_shared_balance(zkrecipes::session session, std::string path,
                                                                   std::size_t participants);

}  // namespace zkadmin
