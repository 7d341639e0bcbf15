// The states of the recipes without a line, from their nodes. Pure functions.
#pragma once

#include <optional>

#include "cluster/node_line.hpp"
#include "cluster/recipe_status.hpp"

namespace zkadmin {

/// A barrier; nothing in place of the node: it is lifted.
recipe_status barrier_of(std::string path, const std::optional<zkrecipes::node_data>& node,
                         std::chrono::milliseconds now);

/// The members are the children. `is_certain`: the user has said that it is a membership, or the names are those of
/// kazoo's Party. Otherwise ephemeral children only are shown, and the kinds tell what they may be.
recipe_status membership_of(const node_line& children, bool is_certain);

/// The instances are the children.
recipe_status service_of(const node_line& children);

recipe_status persistent_node_of(std::string path, const zkrecipes::node_data& node, std::chrono::milliseconds now);

}  // namespace zkadmin
