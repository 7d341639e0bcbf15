// Deletes the nodes of a listing, and nothing else.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/node_view.hpp"

namespace zkadmin {

struct removal_result {
  std::size_t deleted = 0;
  std::size_t gone = 0;     ///< They were deleted by others.
  std::string obstacle{};   ///< The node that has changed since it was listed; empty: none.
  bool is_stopped = false;  ///< To be set by the caller that does not wait any longer: no further request is sent.
};

/// The same nodes, the deepest ones first.
std::vector<node_view> leaves_first(std::vector<node_view> nodes);

/// Deletes each node if it is the one that was listed, with the same version, the deepest ones first, 64 at a time.
/// Ends at the first one that is another one, has another version or more children by now. `result` counts while it
/// goes on. Cost: a read and a write for each node. Throws `failure`.
boost::asio::awaitable<void> remove_nodes(zkrecipes::session session, std::vector<node_view> nodes,
                                          removal_result& result);

}  // namespace zkadmin
