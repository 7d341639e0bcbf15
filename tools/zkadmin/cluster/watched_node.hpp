// The nodes on which the state of a recipe depends.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "cluster/commit_status.hpp"
#include "cluster/queue_status.hpp"
#include "cluster/recipe_status.hpp"
#include "cluster/topic_status.hpp"

namespace zkadmin {

enum class watched_part { data, children };

/// A node that is missing is waited for, whatever the part.
struct watched_node {
  std::string path;
  watched_part part = watched_part::data;
  friend auto operator<=>(const watched_node&, const watched_node&) = default;
};

using watched_nodes = std::vector<watched_node>;

/// What to watch for the next state of something that was in this state. A topic with many shards or groups has too
/// many nodes to be watched: only its own data is among them, see `is_watched`.
watched_nodes nodes_of(const topic_status& topic);
watched_nodes nodes_of(const commit_status& commit);
watched_nodes nodes_of(const queue_status& queue);
watched_nodes nodes_of(const recipe_status& recipe);

/// Whether watches tell all changes of something in this state.
bool is_watched(const topic_status& topic) noexcept;
inline bool is_watched(const commit_status&) noexcept { return true; }
inline bool is_watched(const queue_status&) noexcept { return true; }
/// Not if it may not be read, because no watch tells that an access list has changed; nor if its kind has other nodes
/// than itself and its participants.
bool is_watched(const recipe_status& recipe) noexcept;

}  // namespace zkadmin
