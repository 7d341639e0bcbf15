// Prepares changes of single nodes, of a listing of nodes, and of the instances of a service.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "change/intervention.hpp"
#include "cluster/nodes.hpp"

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

// Deletes the nodes of a listing, and nothing else.

struct removal_result {
  std::size_t deleted = 0;
  std::size_t gone = 0;     ///< They were deleted by others.
  std::string obstacle{};   ///< The node that has changed since it was listed; empty: none.
  bool is_stopped = false;  ///< To be set by the caller that does not wait any longer: no further request is sent.
};

/// Puts the deepest nodes first.
std::vector<node_view> leaves_first(std::vector<node_view> nodes);

/// Deletes each node if it is the one that was listed, with the same version, the deepest ones first, 64 at a time.
/// Ends at the first one that is another one, has another version or more children by now. `result` counts while it
/// goes on. Cost: a read and a write for each node. Throws `failure`.
boost::asio::awaitable<void> remove_nodes(zkrecipes::session session, std::vector<node_view> nodes,
                                          removal_result& result);

// What an operator may change in a service.

/// Each prepares the request. `service`: the path of a service, whose children are its instances. They throw `failure`,
/// also if there is nothing to change. `not_found`: there is no such instance.

/// The instance is not chosen any more, whatever its owner says.
boost::asio::awaitable<intervention> prepare_instance_drain(zkrecipes::session session, std::string service,
                                                            std::string instance);

/// What its owner says counts again.
boost::asio::awaitable<intervention> prepare_instance_undrain(zkrecipes::session session, std::string service,
                                                              std::string instance);

}  // namespace zkadmin
