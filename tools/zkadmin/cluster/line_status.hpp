// The states of the recipes in which clients stand in line, from the nodes of the line. Pure functions.
#pragma once

#include "cluster/node_line.hpp"
#include "cluster/recipe_status.hpp"

namespace zkadmin {

/// The names of their members: ours, Curator's and kazoo's.
name_markers lock_markers() noexcept;
name_markers read_write_markers() noexcept;
name_markers permit_markers() noexcept;
name_markers round_member_markers() noexcept;

/// A lock; or an election with the names of Curator's LeaderSelector or of kazoo; or kazoo's WriteLocks. The kinds tell
/// what it may be. `is_certain`: the user has said that it is a lock.
recipe_status lock_of(const node_line& line, bool is_certain);

recipe_status read_write_lock_of(const node_line& line);

/// That of zkrecipes.
recipe_status semaphore_of(const node_line& line);

recipe_status double_barrier_of(const node_line& line);

/// One that can not be read or understood.
recipe_status recipe_without_view(std::string path, recipe which, recipe_access why);

/// Sets the headline: so many hold, whose role is "holder", and so many wait. Those that were not read count as well.
void set_holders(recipe_status& status, std::size_t holding, std::size_t waiting);

/// Adds a participant for each member that was read, with its id, and counts the others.
void add_members(recipe_status& status, const node_line& line, const std::string& role);

/// Notes the children that belong to another recipe, and counts those that mean nothing.
void add_strangers(recipe_status& status, const node_line& line);

}  // namespace zkadmin
