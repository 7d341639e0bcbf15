// Recognizes recipes by the names and the data of nodes.
#pragma once

#include <string_view>

namespace zkadmin {

/// A candidate's node as Curator's LeaderLatch names it: `_c_<guid>-latch-<10 digits>`.
bool is_candidate_name(std::string_view name) noexcept;

/// Whether zkrecipes, Curator or kazoo use this name only for members of a waiting line, or for items, claims and
/// similar nodes of a queue: there is no election at or below such a node.
bool is_leaf_name(std::string_view name) noexcept;

/// The recipes that zkadmin shows.
enum class recipe { none, election, shard_group, topic, two_phase_commit };

/// The recipe that has written this data into its own node: a JSON object whose field "zkrecipes" names its kind. An
/// election has such data once a client of zkrecipes has led.
recipe recipe_of(std::string_view data);

/// Whether the recipe uses this name for a child of its own node, at and below which no other recipe is.
bool is_part_of(recipe which, std::string_view name) noexcept;

}  // namespace zkadmin
