// The recipes that the nodes of a session belong to, and its part in them.
#pragma once

#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/declared_recipe.hpp"
#include "cluster/recipe_status.hpp"
#include "cluster/session_status.hpp"
#include "cluster/tree_search.hpp"

namespace zkadmin {

/// The recipes of so many nodes are looked for.
inline constexpr std::size_t most_nodes_with_roles = 200;

/// Fills in the recipes and the roles of the nodes of `one`. Recipes that the settings declare are of the kind that
/// they say. What can not be read is noted in `all`. Throws `failure`.
boost::asio::awaitable<void> add_roles(zkrecipes::session session, std::vector<declared_recipe> declared,
                                       deadline limit, session_status& one, session_survey& all);

/// The part in a recipe that the node gives to the session; empty: none is known. Pure.
std::string role_of(const recipe_status& recipe, std::int64_t session, const std::string& node);

}  // namespace zkadmin
