// Reads a queue, which takes a ZooKeeper session.
#pragma once

#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/queue_status.hpp"
#include "cluster/reading.hpp"

namespace zkadmin {

/// The present state of the queue at `path`. It writes nothing. Errors: `no_node`, `no_auth`. Throws `failure` for
/// others.
boost::asio::awaitable<reading<queue_status>> read_queue(zkrecipes::session session, std::string path);

}  // namespace zkadmin
