// The states of the recipes without a line, from their nodes. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster/line_status.hpp"
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

// The states of what processes share: gates, calls that are made once in a period, balances, limiters. Pure functions.

/// The callers in the buckets of a gate.
name_markers gate_markers() noexcept;

/// A gate. `root`: its own node; `buckets`: those that were read, each with its callers; `unread`: how many others it
/// has. The first caller of each key is inside.
recipe_status shared_gate_of(const std::string& path, const zkrecipes::node_data& root,
                             const std::vector<node_line>& buckets, std::size_t unread);

/// Calls that are made once in a period. `root`: its own node; `periods`: their numbers, in order; `last`: the intents
/// of the last of them, if there is one.
recipe_status once_per_of(const std::string& path, const zkrecipes::node_data& root,
                          const std::vector<std::int64_t>& periods, const std::optional<node_line>& last,
                          std::chrono::milliseconds now);

/// The numbers of the periods among the names of children, in order.
std::vector<std::int64_t> periods_among(const std::vector<std::string>& names);

/// A balance. `limit`: its node of this name; nothing: it is missing. `members`: all children of the other one.
recipe_status shared_balance_of(const std::string& path, const std::optional<zkrecipes::node_data>& limit,
                                const node_line& members);

/// A shard group whose members name the rate of a limiter is one, or may be: nothing marks it. `which`, `is_declared`:
/// what the user has said.
void describe_limiter(recipe_status& group, recipe which, bool is_declared);

/// "1000 in 1.0 s, burst 200" for the data "1000 in 1000000000 ns, burst 200"; nothing for other data.
std::optional<std::string> rate_text(const std::string& data);

}  // namespace zkadmin
