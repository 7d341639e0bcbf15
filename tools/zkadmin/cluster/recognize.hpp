// Recognizes elections by the names and the data of nodes.
#pragma once

#include <string_view>

namespace zkadmin {

/// A candidate's node as Curator's LeaderLatch names it: `_c_<guid>-latch-<10 digits>`.
bool is_candidate_name(std::string_view name) noexcept;

/// Whether zkrecipes, Curator or kazoo use this name only for members of a waiting line, or for items, claims and
/// similar nodes of a queue: there is no election at or below such a node.
bool is_leaf_name(std::string_view name) noexcept;

/// Whether this is the data of an election's own node, as it is once a client of zkrecipes has led: a JSON object with
/// "zkrecipes":"term".
bool is_term_record(std::string_view data);

}  // namespace zkadmin
