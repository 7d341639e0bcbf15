// Reads a source of messages that are kept outside of ZooKeeper, as far as ZooKeeper tells.
#pragma once

#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/reading.hpp"
#include "cluster/stream_status.hpp"

namespace zkadmin {

// What a consumer has stored about a shard of a source outside of ZooKeeper.

/// Reads the data of the node of a shard and a group. Marks it as damaged if it is no record of zkrecipes, or if a
/// field of one that is known has not the form that the library gives it.
stream_shard_status read_memory(std::string_view data);

/// The present state of the source at `path`, without its broker. Errors: `no_node`, `no_auth`, `foreign_data` (the
/// record at the path is of no source), and those of `session`.
boost::asio::awaitable<reading<stream_status>> read_stream(zkrecipes::session session, std::string path);

}  // namespace zkadmin
