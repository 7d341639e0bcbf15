// Semaphores with the layouts of Curator and kazoo: the permits that are taken in one place, those that wait in
// another. Pure functions.
#pragma once

#include "cluster/node_line.hpp"
#include "cluster/recipe_status.hpp"

namespace zkadmin {

/// Curator's InterProcessSemaphoreV2. `leases`: the line of its folder "leases"; `waiting`: that of its folder "locks".
/// The number of permits is stored nowhere.
recipe_status curators_semaphore_of(std::string path, const node_line& leases, const node_line& waiting);

/// kazoo's Semaphore. `leases`: all children of its node, whose data is the number of permits; `waiting`: the line of
/// its lock, `<path>-__lock__`.
recipe_status kazoos_semaphore_of(const node_line& leases, const node_line& waiting);

name_markers lease_markers() noexcept;

}  // namespace zkadmin
