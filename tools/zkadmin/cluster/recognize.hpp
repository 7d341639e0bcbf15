// Recognizes recipes by the names and the data of nodes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "settings/recipe_kind.hpp"

namespace zkadmin {

/// A candidate's node as Curator's LeaderLatch names it: `_c_<guid>-latch-<10 digits>`.
bool is_candidate_name(std::string_view name) noexcept;

/// Whether zkrecipes, Curator or kazoo use this name only for members of a waiting line, or for items, claims and
/// similar nodes of a queue: there is no election at or below such a node.
bool is_leaf_name(std::string_view name) noexcept;

/// The name of a permit that is taken, as Curator's InterProcessSemaphoreV2 writes it: `_c_<guid>-lease-<10 digits>`.
bool is_lease_name(std::string_view name) noexcept;

/// The part of a name before the server's sequence number; empty if the name does not end in ten digits.
std::string_view before_sequence(std::string_view name) noexcept;

/// The recipe that has written this data into its own node: a JSON object whose field "zkrecipes" names its kind. An
/// election has such data once a client of zkrecipes has led.
recipe recipe_of(std::string_view data);

/// Whether a recipe of zkrecipes has written this data: a JSON object whose field "zkrecipes" is a text.
bool is_record(std::string_view data);

/// The recipe to which most of these names of children belong, or none. A `lock` may be an election with the names of
/// LeaderSelector or of kazoo as well, or kazoo's WriteLocks.
recipe recipe_among(const std::vector<std::string>& children);

/// Whether the recipe uses this name for a child of its own node, at and below which no other recipe is.
bool is_part_of(recipe which, std::string_view name) noexcept;

// Recipes that have more than one node: which of them is the path that users know.

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
