// How an election looks in the tree.
#pragma once

#include <string_view>

namespace zkadmin {

/// A candidate's node as Curator's LeaderLatch names it: `_c_<guid>-latch-<10 digits>`.
bool is_candidate_name(std::string_view name) noexcept;

/// A name that only members of a line and a queue's items, claims and the like bear, ours, Curator's or
/// kazoo's: there is no election at or below such a node.
bool is_leaf_name(std::string_view name) noexcept;

/// The data of an election's own node, once somebody of ours has led: a JSON object with "zkrecipes":"term".
bool is_term_record(std::string_view data);

}  // namespace zkadmin
