#pragma once

#include <string>

#include "zk_client.hpp"

namespace testcluster::detail {

/// Removes a node with all nodes below it, and those that are created meanwhile, for a few rounds. Two requests for
/// each node, one after the other. It is no error if there is no such node. Throws testcluster::error that names a node
/// which can not be removed.
void remove_tree(zk_client& client, const std::string& root);

}  // namespace testcluster::detail
