// What rights at a recipe are worth to somebody who should not have them. docs/security.md has the same, in full.
#pragma once

#include <cstdint>
#include <string>

#include "cluster/recognize.hpp"

namespace zkadmin {

/// "stand in line and so block others, delete the nodes of holders", of those rights that change something; of READ
/// only if there is nothing else. `is_path`: at the path itself, else at nodes below it.
std::string meaning_of(recipe which, std::int32_t rights, bool is_path);

/// Whether the recipe is its node: rights at the parent create and delete it.
bool is_single_node(recipe which) noexcept;

/// Whether its members stand in line, and look at the node in front of them.
bool is_line(recipe which) noexcept;

}  // namespace zkadmin
