// Prepares changes of single nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/intervention.hpp"

namespace zkadmin {

struct change_options {
  std::optional<std::int32_t> version{};  ///< Nothing: the version that is read, so that nothing unseen is lost.
  bool force = false;                     ///< Also what a recipe keeps.
};

/// Both throw `failure`: if the node does not exist (not_found), or if it belongs to a recipe or to ZooKeeper itself.
boost::asio::awaitable<intervention> prepare_set(zkrecipes::session session, std::string path, std::string data,
                                                 change_options how);
boost::asio::awaitable<intervention> prepare_delete(zkrecipes::session session, std::string path, change_options how);

/// Throws `failure` if hands should not change it, and it is not forced.
boost::asio::awaitable<void> require_free(zkrecipes::session session, std::string path, bool force);

}  // namespace zkadmin
