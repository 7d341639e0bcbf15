// Reads a source of messages that are kept outside of ZooKeeper, as far as ZooKeeper tells.
#pragma once

#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/reading.hpp"
#include "cluster/stream_status.hpp"

namespace zkadmin {

/// The present state of the source at `path`, without its broker. Errors: `no_node`, `no_auth`, `foreign_data` (the
/// record at the path is of no source), and those of `session`.
boost::asio::awaitable<reading<stream_status>> read_stream(zkrecipes::session session, std::string path);

}  // namespace zkadmin
