// Reads a topic, which takes a ZooKeeper session.
#pragma once

#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/reading.hpp"
#include "cluster/topic_status.hpp"

namespace zkadmin {

/// The present state of the topic at `path`. Errors: those of `topic::async_shards` and `topic::async_lag`.
boost::asio::awaitable<reading<topic_status>> read_topic(zkrecipes::session session, std::string path);

}  // namespace zkadmin
