// Recipes that have more than one node: which of them is the path that users know.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/recognize.hpp"

namespace zkadmin {

struct recipe_place {
  recipe which = recipe::none;
  std::string path{};
  friend bool operator==(const recipe_place&, const recipe_place&) = default;
};

using recipe_paths = std::map<recipe, std::vector<std::string>>;

/// Below Curator's semaphores, for those that wait.
inline constexpr std::string_view inner_locks = "/locks";
/// Behind the path of kazoo's semaphores, for those that wait.
inline constexpr std::string_view kazoos_inner_lock = "-__lock__";

/// The recipe that a node is a part of. `which`: the one that the node's data or names tell.
recipe_place place_of(recipe which, const std::string& path, const std::vector<std::string>& children);

/// The paths of all recipes, sorted, by the nodes that tell of them. Several nodes may tell of the same one; and what
/// is a part of another recipe is none of its own.
recipe_paths paths_of(const std::map<std::string, recipe_place>& told);

}  // namespace zkadmin
